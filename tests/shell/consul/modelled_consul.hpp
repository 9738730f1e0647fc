#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "consul/consul_state.hpp"
#include "consul/sessions.hpp"
#include "consul/terms.hpp"
#include "http/http_message.hpp"
#include "served_calls.hpp"

namespace tenure::shell {

/// Three Consul servers as clients of their HTTP API can tell: what they have agreed on
/// (consul_state.hpp), sessions that live for twice their TTL (sessions.hpp), blocking queries that
/// may be answered too early or too late, consistent reads, and others, which a replaced leader
/// answers from what it knew. Each server asks the leader, as an agent of a client does.
///
/// Not modelled: tokens, checks, namespaces, several datacenters.
class modelled_consul final : public modelled_cluster {
 public:
  modelled_consul(world& in, store_witness& seen_by);

  void handle(std::size_t server, http::client_request asked, reply done) override;

  // What goes wrong.
  void compact() override { state_.forget_deletions(); }
  bool delete_one(const std::string& election) override;
  /// Names that an operator deletes, or that a restored snapshot lacks, are not written again.
  [[nodiscard]] std::optional<std::size_t> listed(const std::string& election,
                                                  const std::string& identity) const override;
  bool revoke_one(const std::string& election) override;
  /// An operator writes this key, whoever holds it.
  void write(const std::string& key, const std::string& value, std::uint64_t flags);
  /// An operator releases the lock of this election by force: of this session. Nothing: nobody
  /// holds it.
  std::optional<std::string> release_one(const std::string& election);
  /// An operator ends this session; false if it is gone.
  bool destroy(const std::string& session);
  /// An operator deletes this key.
  void erase(const std::string& key);
  /// An operator deletes all keys with this prefix that no session holds.
  void clean(const std::string& prefix);
  /// An operator takes a snapshot, and restores it later.
  [[nodiscard]] const consul_state& state() const { return state_; }
  void restore(const consul_state& snapshot);

  // What is true.
  [[nodiscard]] std::uint64_t revision() const override { return state_.index(); }
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] world_time promised(std::int64_t lease) const override;
  [[nodiscard]] std::vector<std::uint64_t> contenders(const std::string& election) const override;

 private:
  using call_ptr = served_calls::call_ptr;
  struct blocking_query {
    call_ptr of;
    int leader = 0;  ///< where it waits
    std::string prefix;
    std::uint64_t after = 0;
    consul_state at_first;  ///< what it is answered with if nothing changes
  };

  void take(const call_ptr& c);
  void make_session(const call_ptr& c);
  void renew_session(const call_ptr& c, const std::string& id);
  void destroy_session(const call_ptr& c, const std::string& id);
  void transact(const call_ptr& c);
  void read(const call_ptr& c);
  void put(const call_ptr& c);
  void block(const call_ptr& c, const std::string& prefix, std::uint64_t after);
  void time_is_over(const call_ptr& of);
  void answer_keys(const call_ptr& c, const consul_state& from);

  /// `work`: what the leader does, which answers.
  void at_leader(const call_ptr& c, std::move_only_function<void()> work);
  [[nodiscard]] std::vector<consul_state::refused> delayed(
      const std::vector<consul_state::operation>& all) const;
  [[nodiscard]] std::map<std::string, std::string> orders_in(
      const std::vector<consul_state::operation>& all) const;
  void wrote(erased_by how);
  void wake();
  void elected();
  void stopped(std::size_t server);

  void answer(const call_ptr& c, unsigned status, std::string body, std::uint64_t index = 0);
  void fail_later(const call_ptr& c);

  world& world_;
  store_witness& witness_;
  consul_state state_;
  consul_sessions sessions_;
  consul_terms terms_;
  std::array<consul_state, most_servers> known_when_alone_;  ///< by a leader that may be replaced
  served_calls calls_;
  std::list<blocking_query> waiting_;
};

}  // namespace tenure::shell
