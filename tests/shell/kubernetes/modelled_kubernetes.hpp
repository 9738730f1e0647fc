#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/http_message.hpp"
#include "kubernetes/lease_objects.hpp"
#include "kubernetes/lease_terms.hpp"
#include "served_calls.hpp"

namespace tenure::shell {

/// Three machines of a control plane, each with a member of etcd and an API server that asks that
/// member, as clients of the API servers can tell: Leases of one namespace (lease_objects.hpp),
/// reads that are linearizable, and watches from a cache, which may be behind and may have
/// forgotten what was long ago.
///
/// etcd is restored as Kubernetes' guide says, with all API servers stopped: one that goes on has a
/// cache from before, and shows Leases that are not there.
///
/// Not modelled: lists in parts, several namespaces, objects other than Leases.
class modelled_kubernetes final : public modelled_cluster {
 public:
  modelled_kubernetes(world& in, judge& seen_by);

  void handle(std::size_t server, http::client_request asked, reply done) override;
  [[nodiscard]] std::shared_ptr<served_stream> make_stream() override;
  [[nodiscard]] bool sends_heads() const override { return true; }
  void open(std::size_t server, const std::shared_ptr<served_stream>& one,
            const http::client_request& asked) override;

  // What goes wrong.
  /// The caches of all servers forget what they have shown.
  void compact() override;
  bool delete_one(const std::string& election) override;
  bool revoke_one(const std::string& election) override;
  /// How an API server answers for a while, to so many of a million requests.
  struct mood {
    std::uint32_t ppm = 0;
    unsigned status = 500;           ///< 0: it does what it is asked, and its answer is lost
    std::int64_t retry_after_s = 0;  ///< 0: it does not say
    const char* reason = "InternalError";
  };
  void answers(std::size_t server, mood how) { servers_[server].how = how; }
  /// What its watches show comes up to so much later than it could.
  void lag_watches(std::size_t server, core::duration by) { servers_[server].watch_lag = by; }
  /// Ends all watches of a server, with a word or without.
  void end_watches(std::size_t server, bool by_reset);
  /// An operator changes a Lease; false if there is none.
  bool edit(const std::string& name, const std::function<void(nlohmann::json&)>& by);
  bool erase(const std::string& name);
  /// The name of a Lease that somebody holds of this election; nothing: nobody does.
  [[nodiscard]] std::optional<std::string> any_held(const std::string& election);
  [[nodiscard]] const lease_objects& objects() const { return objects_; }
  /// Clients that know nothing of Leases write so many objects.
  void others_write(std::uint64_t how_many);

  // An operator backs etcd up, stops everything, and starts it with the backup.
  struct backup {
    lease_objects objects;
    lease_terms::all_terms terms;
  };
  [[nodiscard]] backup back_up() const { return {.objects = objects_, .terms = terms_.all()}; }
  void halt() { members_.halt(); }
  [[nodiscard]] bool is_halted() const { return members_.halted(); }
  void restore(const backup& from, std::uint64_t raised_by);

  // What is true.
  [[nodiscard]] std::optional<std::size_t> listed(const std::string& election,
                                                  const std::string& identity) const override;
  [[nodiscard]] std::uint64_t revision() const override { return objects_.revision(); }
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] world_time promised(std::int64_t lease) const override {
    return terms_.promised(lease);
  }
  [[nodiscard]] std::vector<std::uint64_t> contenders(const std::string& election) const override {
    return terms_.holders(election);
  }
  [[nodiscard]] bool may_show(const std::string& election, const std::string& identity,
                              const std::vector<std::uint64_t>& shown, world_time since) const {
    return terms_.may_show(election, identity, shown, since);
  }

 private:
  using call_ptr = served_calls::call_ptr;
  struct watch : served_stream {
    std::size_t server = 0;
    std::optional<lease_selector> of;
    std::uint64_t shown = 0;  ///< up to this revision
  };
  using watch_ptr = std::shared_ptr<watch>;
  struct api_server {
    mood how;
    core::duration clock_off{};
    core::duration watch_lag{};
    std::uint64_t oldest = 0;  ///< what was before that is forgotten
    std::uint64_t cached = 0;  ///< what its watches show goes up to this revision
    world_time caches_at{};    ///< the newest change that is on its way
    bool has_cache = true;
    std::vector<watch_ptr> watches{};
  };

  void take(const call_ptr& c);
  void read(const call_ptr& c, std::function<api_answer()> what);
  void write(const call_ptr& c, std::function<api_answer()> what);
  void answer(const call_ptr& c, api_answer what, std::int64_t retry_after_s = 0);
  void fail_later(const call_ptr& c);
  void tell_terms(lease_terms::writer by);
  void wrote(lease_terms::writer by);

  void begin(const watch_ptr& one, const http::request_target& asked);
  void refuse(const watch_ptr& one, unsigned status, const std::string& reason,
              std::int64_t retry_after_s);
  void bookmark_later(const watch_ptr& one);
  void cache_later(std::size_t server);
  void cache(std::size_t server, std::uint64_t revision);
  void show(const watch_ptr& one, std::uint64_t up_to);
  void forget_closed(std::size_t server);

  void stopped(std::size_t server);
  void leaderless(std::size_t server);
  [[nodiscard]] bool is_ready(std::size_t server);

  [[nodiscard]] std::int64_t wall_ms(std::size_t server) const;
  [[nodiscard]] http::header date(std::size_t server) const;
  [[nodiscard]] bool is_moody(std::size_t server) {
    return world_.dice.chance(servers_[server].how.ppm);
  }

  world& world_;
  lease_objects objects_;
  lease_terms terms_;
  std::array<api_server, most_servers> servers_;
  std::size_t told_ = 0;  ///< so many changes
  served_calls calls_;
};

}  // namespace tenure::shell
