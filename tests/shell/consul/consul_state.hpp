#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "world.hpp"

namespace tenure::shell {

/// What the servers of the modelled Consul have agreed on: keys and sessions. Knows neither servers
/// nor time. Copies are what a server knew at some time.
///
/// Each write has the next index. The words of refusals are Consul's.
class consul_state {
 public:
  struct entry {
    std::string value;
    std::uint64_t flags = 0;
    std::uint64_t lock_index = 0;
    std::uint64_t create = 0;
    std::uint64_t modify = 0;
    std::string session{};  ///< who holds it; empty: nobody
  };
  struct session {
    std::uint64_t number = 0;  ///< in the order in which they were made
    std::string name{};
    std::optional<core::duration> ttl{};
    core::duration lock_delay{};
    bool removes = false;  ///< its keys, when it ends
  };
  /// One operation of a transaction.
  struct operation {
    std::string verb;
    std::string key;
    std::string value{};
    std::uint64_t flags = 0;
    std::uint64_t index = 0;
    std::string session{};
  };
  struct refused {
    std::size_t which = 0;
    std::string what;
  };
  struct shown {
    std::string key;
    entry what;
    bool with_value = false;
  };
  struct outcome {
    std::vector<shown> results{};
    std::vector<refused> errors{};  ///< not empty: nothing was written
  };

  /// Of the last write.
  [[nodiscard]] std::uint64_t index() const { return index_; }
  /// That of an answer about all keys with this prefix: of the last write among them, also of one
  /// that has deleted a key, until that is forgotten; if there is none, of the last one to any key.
  [[nodiscard]] std::uint64_t index_of(const std::string& prefix) const;
  [[nodiscard]] const std::map<std::string, entry>& keys() const { return keys_; }
  [[nodiscard]] const entry* find(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> keys_under(const std::string& prefix) const;
  [[nodiscard]] std::vector<std::string> keys_of(const std::string& session) const;
  [[nodiscard]] const session* find_session(const std::string& id) const;
  [[nodiscard]] const std::map<std::string, session>& sessions() const { return sessions_; }

  /// Returns its id.
  std::string make_session(session what);
  /// Ends it: its keys are released or deleted. Precondition: there is one of this id.
  void end_session(const std::string& id);
  /// All of it is done, or nothing.
  outcome transact(const std::vector<operation>& all);
  /// Forgets deletions, as Consul does after a while.
  void forget_deletions() { deleted_.clear(); }
  /// Becomes what `backup` was; what is written from now on has larger indexes than ever.
  void restore(const consul_state& backup);

 private:
  std::optional<std::string> carry_out(const operation& one, outcome& to);
  void put(const operation& one, std::uint64_t lock_index, const std::string& holder, outcome& to);
  void erase(const std::string& key);

  std::uint64_t index_ = 1;
  std::uint64_t last_key_write_ = 1;
  std::uint64_t last_session_ = 0;
  std::map<std::string, entry> keys_;
  std::map<std::string, std::uint64_t> deleted_;  ///< keys, with the indexes of their deletion
  std::map<std::string, session> sessions_;
};

}  // namespace tenure::shell
