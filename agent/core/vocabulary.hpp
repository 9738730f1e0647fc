#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/member_order.hpp"
#include "core/version.hpp"

/// The field's words as types. DESIGN: a lease, its holder, its version, why it was lost.
namespace tenure::core {

/// One try of one operation. Replies carry it back, so that a late one is recognized.
enum class attempt : std::uint64_t {};

/// Where an election is in its life.
enum class phase : std::uint8_t {
  observer,   ///< only watches
  candidate,  ///< waits for the lease
  pending,    ///< granted; lets lock_delay pass before the workload may start
  active,     ///< the workload may run, as long as the lease is valid (`view::valid_at`)
  draining,   ///< the workload is being stopped, or the lease is being released
  stopped,    ///< done for good; nothing is held and nothing runs
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
  resigned,           ///< given up on request
  shutdown,           ///< the agent was told to end
  workload_exited,    ///< the workload ended by itself
  guard_gone,         ///< the guard of the workload has ended, or is about to
  version_regressed,  ///< the store granted a version older than one that was seen
};

std::string_view name(phase p);
std::string_view name(loss_reason r);

/// The reason of that name; nothing if there is none of it, as a newer agent may have written it.
std::optional<loss_reason> loss_reason_named(std::string_view text);

/// True for the ends of a term that nobody here asked for.
constexpr bool is_loss(loss_reason r) {
  return r == loss_reason::renew_timeout || r == loss_reason::taken_over ||
         r == loss_reason::session_invalid || r == loss_reason::revoked ||
         r == loss_reason::suspended || r == loss_reason::version_regressed;
}

/// A member that the store shows as a holder.
struct holder {
  std::string identity;
  core::version version = no_version;
  /// It holds by this agent's own session, which the store knows: neither a name nor a version
  /// tells that, as another member may have been given the one, and a restored store grants the
  /// other twice.
  bool ours = false;

  friend bool operator==(const holder&, const holder&) = default;
};

/// What a holder said when it released its term. The store keeps it until the next release.
struct release_record {
  core::version version = no_version;
  std::string holder{};
  loss_reason why = loss_reason::none;  ///< `none`: it did not say
  std::string heir{};           ///< the member that is to hold next; empty: whoever comes first
  std::int64_t at_unix_ms = 0;  ///< by the holder's wall clock, for people; 0: it did not say

  friend bool operator==(const release_record&, const release_record&) = default;
};

/// What an election is, by the store: the same for all its members. Whoever is set up otherwise
/// does not campaign.
struct agreement {
  std::uint32_t slots = 0;  ///< 0: nothing is agreed yet; the first who campaigns writes it down
  /// An operator accepts versions from this one on, although larger ones were seen: the store was
  /// restored from a backup. `no_version`: nobody ever did.
  core::version versions_from = no_version;
  std::int64_t accepted_unix_ms = 0;  ///< when, by a wall clock; tells one acceptance from the next

  friend bool operator==(const agreement&, const agreement&) = default;
};

/// What a store shows of an election at one point of its own history.
struct observation {
  /// The point in the store's order: at least the version of every grant it has made until then
  /// (etcd: header revision; SQLite: the version counter). An observation from before our own
  /// grant can so be told from one that shows it gone.
  core::version as_of = no_version;
  /// Lowest version first; empty if the lease is free.
  std::vector<holder> holders;
  /// When a try to acquire may first succeed although nothing was released; `never` where the
  /// store's watch will tell.
  time_point retry_at = never;
  /// When the oldest grant runs out by the store's word; `never` if it does not say.
  time_point expires_at = never;
  /// Of the newest release, however long ago that was; nothing if there was none.
  std::optional<release_record> last_release{};
  /// Who takes part, holders or not, sorted; nothing where the store cannot tell.
  std::optional<std::vector<std::string>> members{};
  agreement agreed{};
  /// Another run than ours has our identity, and had it before us or holds the lease.
  bool identity_in_use = false;
  /// What agents have left for each other's members, sorted by id.
  std::vector<left_order> orders{};

  friend bool operator==(const observation&, const observation&) = default;
};

}  // namespace tenure::core
