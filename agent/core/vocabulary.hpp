#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/member_list.hpp"
#include "core/member_order.hpp"
#include "core/version.hpp"

/// The terms of the field as types: a lease, its holder, its version, why it was lost.
namespace tenure::core {

/// One try of one operation. Replies carry it back, so that a late one is recognized.
enum class attempt : std::uint64_t {};

/// The phase of an election's life.
enum class phase : std::uint8_t {
  observer,   ///< only watches
  candidate,  ///< waits for the lease
  pending,    ///< holds the lease; waits for lock_delay before the workload may start
  active,     ///< the workload may run, as long as the lease is valid (`view::valid_at`)
  draining,   ///< the workload is being stopped, or the lease is being released
  stopped,    ///< ended for good; nothing is held and nothing runs
};

/// Why a term ended.
enum class loss_reason : std::uint8_t {
  none,
  renew_timeout,      ///< the budget ran out without an acknowledged renewal
  taken_over,         ///< the store shows another holder
  session_invalid,    ///< the store no longer knows our session
  revoked,            ///< our key is gone and nobody else holds it
  suspended,          ///< the machine slept through the lease
  unhealthy,          ///< the workload's health check failed
  resigned,           ///< released on request
  preempted,          ///< released for a member of higher priority
  shutdown,           ///< the agent is shutting down
  workload_exited,    ///< the workload ended by itself
  guard_gone,         ///< the guard of the workload is ending or has ended
  container_died,     ///< the container of guard and workload ended, with all that ran in it
  version_regressed,  ///< the store granted a version lower than one that was seen
  ttl_too_short,      ///< the granted lease lasts too short a time for this member's settings
};

std::string_view name(phase p);
std::string_view name(loss_reason r);

/// The reason with this name; nothing for an unknown one, which a newer agent may have written.
std::optional<loss_reason> loss_reason_named(std::string_view text);

/// True if nobody here asked for the term to end.
constexpr bool is_loss(loss_reason r) {
  return r == loss_reason::renew_timeout || r == loss_reason::taken_over ||
         r == loss_reason::session_invalid || r == loss_reason::revoked ||
         r == loss_reason::suspended || r == loss_reason::version_regressed ||
         r == loss_reason::ttl_too_short;
}

/// True if somebody should look into it: a loss, or a workload or a guard that fails.
constexpr bool is_trouble(loss_reason r) {
  return is_loss(r) || r == loss_reason::unhealthy || r == loss_reason::guard_gone ||
         r == loss_reason::container_died;
}

/// A member that the store shows as a holder.
struct holder {
  std::string identity;
  core::version version = no_version;
  /// It holds through this agent's own session, which the store knows. Neither name nor version can
  /// show this: another member may have the same name, and a restored store grants a version twice.
  bool ours = false;
  /// Which of the slots it holds, from 0 on: no two holders have the same number at a time. 0 where
  /// the store does not say, as for a program that knows no such number (`etcdctl lock`).
  std::uint32_t slot = 0;
  std::string sequencer{};  ///< the store's own proof of this term, see event::granted; opaque

  friend bool operator==(const holder&, const holder&) = default;
};

/// What a holder wrote when it released its term. The store keeps it until the next release.
struct release_record {
  core::version version = no_version;
  std::string holder{};
  loss_reason why = loss_reason::none;  ///< `none`: not given
  std::string heir{};                   ///< the member that should hold next; empty: any member
  std::int64_t at_unix_ms = 0;          ///< by the holder's wall clock, for people; 0: not given

  friend bool operator==(const release_record&, const release_record&) = default;
};

/// The settings of an election in the store, the same for all its members.
struct agreement {
  /// 0: not agreed yet. Who takes the lease while nobody holds stores its own number; while
  /// somebody holds, a member with another number does not campaign (core::keepers_of_slots).
  std::uint32_t slots = 0;
  /// An operator accepts versions from this one on although larger ones were seen, because the
  /// store was restored from a backup. `no_version`: nobody ever did.
  core::version versions_from = no_version;
  std::int64_t accepted_unix_ms = 0;  ///< when, by a wall clock; tells acceptances apart

  friend bool operator==(const agreement&, const agreement&) = default;
};

/// What a store shows of an election at one point of its own history.
struct observation {
  /// The point in the store's order: at least the version of every grant it has made until then
  /// (etcd: header revision; SQLite: the version counter). It tells an observation from before our
  /// own grant from one that shows the grant gone.
  core::version as_of = no_version;
  /// Lowest version first; empty if the lease is free.
  std::vector<holder> holders;
  /// When an acquire may first succeed without a release; `never` if the store's watch will show
  /// it.
  time_point retry_at = never;
  /// When the oldest grant runs out, as the store says; `never` if it does not say.
  time_point expires_at = never;
  /// The newest release, however long ago; nothing if there was none.
  std::optional<release_record> last_release{};
  std::optional<member_list> members{};  ///< nothing if the store cannot tell
  agreement agreed{};
  /// Another run uses our identity, and used it before us or holds the lease.
  bool identity_in_use = false;
  /// We have a place in line, or may have one; see store::stand_in_line.
  bool in_line = false;
  /// Orders that agents have left for each other's members, sorted by id.
  std::vector<left_order> orders{};

  friend bool operator==(const observation&, const observation&) = default;
};

}  // namespace tenure::core
