#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "judge.hpp"
#include "kubernetes/lease_objects.hpp"

namespace tenure::shell {

/// Who holds which election by the Leases of the modelled Kubernetes, read as client-go reads them
/// and as stores/kubernetes/layout.hpp says; independent of how the agents read them.
///
/// A term lasts until others may take its Lease: for as long as that says after its spec has last
/// changed. Whoever has watched it since may come that much later.
class lease_terms {
 public:
  enum class writer : std::uint8_t {
    client,    ///< one that keeps to the conventions
    operator_  ///< somebody who may write what he likes
  };

  lease_terms(world& in, judge& seen_by) : world_(in), judge_(seen_by) {
    judge_.may_miss_restores();
  }

  /// Call after each write.
  void changed(const lease_change& what, writer by);

  /// A term of one Lease.
  struct term {
    std::string election;
    std::string key;
    std::string owner;   ///< a pod, or a client
    std::string holder;  ///< as the Lease says it
    std::string uid;
    std::int64_t transitions = 0;
    std::uint32_t slot = 0;
    std::uint64_t version = 0;
    /// Where an operator has put a term back: the version of the first one that looked the same.
    std::uint64_t looks_like = 0;
    std::int64_t lease = 0;      ///< its number for the judge
    std::int64_t counted_s = 0;  ///< for how long its holder counts on it after each renewal
    std::uint64_t written = 0;   ///< the revision of what its Lease is
    bool is_noted = false;       ///< its Lease says its version
    bool is_touched = false;     ///< an operator has written its Lease since it began
    /// An operator wrote its spec last: who was away may find it as it was, and has waited.
    bool is_put_there = false;
    bool is_restored = false;  ///< the same, by a restore, until its holder renews it
    bool is_gone = false;      ///< it has run out, or an operator has taken it away
    bool has_run_out = false;
    world_time lasts_until{};  ///< others wait until then
    core::duration lasts{};    ///< who looks for the first time waits for so long
  };
  using all_terms = std::map<std::string, term>;  ///< by Lease

  /// A backup of this goes with that of the Leases.
  [[nodiscard]] const all_terms& all() const { return present_; }
  void restore(const all_terms& backup, const lease_objects& objects);

  /// Until when others have ever been bound to wait for the end of this term.
  [[nodiscard]] world_time promised(std::int64_t lease) const;
  /// Of this election, lowest version first.
  [[nodiscard]] std::vector<std::uint64_t> holders(const std::string& election) const;
  /// True if a member may show these versions as holders, when it has seen everything. `identity`:
  /// its own. `since`: it has looked on since then.
  [[nodiscard]] bool may_show(const std::string& election, const std::string& identity,
                              const std::vector<std::uint64_t>& shown, world_time since) const;

 private:
  using term_name = std::tuple<std::string, std::uint64_t, std::string>;
  struct known_term {
    std::int64_t lease = 0;
    std::int64_t counted_s = 0;
  };

  /// Its key, version and holder.
  static term_name name_of(const term& one) { return {one.key, one.version, one.holder}; }
  /// Its key, holder and transitions: what a Lease shows of a term whose version it does not say.
  using term_looks = std::tuple<std::string, std::string, std::int64_t>;
  static bool is_of_an_agent(const term& one);
  [[nodiscard]] bool counts(const term& one) const;
  void orders_changed(const lease_change& what, writer by);
  void agree(const std::string& election, const lease_state& first);
  void end(const term& one, erased_by how);
  void begin(const lease_change& what, writer by);
  void go_on(term& one, const lease_change& what, writer by);
  void tell_beginning(term& one, bool may_be_back);
  void check_taking(const term& made, const lease_change& what);
  void lasts(const std::string& name, term& one, std::int64_t duration_s);
  void watch_for_end(const std::string& name, const term& one);

  world& world_;
  judge& judge_;
  all_terms present_;
  std::map<std::int64_t, world_time> promised_;
  std::map<term_name, known_term> known_;
  std::map<term_looks, std::uint64_t> first_;        ///< version of the first that looked so
  std::map<std::string, std::int64_t> relied_on_s_;  ///< by the agent's mark: its ttl
  std::map<std::string, std::vector<std::uint64_t>> lists_;  ///< of slots, by election; empty: none
  std::map<std::string, world_time> orders_;                 ///< by id: when it was left
  std::int64_t numbers_ = 0;
};

}  // namespace tenure::shell
