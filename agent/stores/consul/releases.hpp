#pragma once

#include <memory>
#include <optional>
#include <string>

#include "stores/consul/shared_state.hpp"

namespace tenure::stores::consul {

/// `release` and `end_term` for Consul: one transaction that unlocks the key, or takes its holder
/// out of the semaphore, and leaves the record. It relies on the key's index, so that one executed
/// late cannot touch a later term. The session stays.
///
/// If a member stands in line, the release of our own term locks the key for it in the same
/// transaction. The end of another member's term only frees the key: the dead member's own offer
/// may still be in the list of members.
///
/// Used on its loop only.
class releases {
 public:
  explicit releases(shared_state& of) : shared_(of) {}

  void release(core::election_index which, core::version version, const release_details& how,
               core::time_point deadline, handler<release_outcome> done);
  void end_term(core::election_index which, const core::holder& whose, const release_details& how,
                core::time_point deadline, handler<release_outcome> done);

 private:
  struct attempt {
    core::election_index which{};
    core::version version = core::no_version;  ///< `no_version`: all that our session holds
    std::optional<core::holder> whose{};       ///< another member's term; nothing: ours
    std::optional<release_details> how{};      ///< nothing: no record is left
    bool is_passed_on = false;                 ///< to who stands in line, if anybody does
    core::time_point deadline{};
    handler<release_outcome> done;
    int tries = 0;
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  static const slot_holder* find(const attempt& a, const mirror& at);
  void look(const attempt_ptr& a);
  void give_up(const attempt_ptr& a, const mirror& at, const slot_holder& its);
  void finish(const attempt_ptr& a, release_outcome outcome);

  shared_state& shared_;
};

}  // namespace tenure::stores::consul
