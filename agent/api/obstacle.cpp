#include "api/obstacle.hpp"

#include <chrono>

#include "base/list_text.hpp"
#include "core/timing.hpp"

namespace tenure::api {
namespace {

std::string again_in(core::time_point until, const instant& at) {
  return "it campaigns again in " +
         core::text(std::chrono::ceil<std::chrono::seconds>(until - at.now));
}

std::string health_reason(const snapshot& seen) {
  return seen.health && !seen.health->reason.empty() ? ": " + seen.health->reason : "";
}

/// The successor that the last holder has named.
std::string heir_of(const election_snapshot& election) {
  const auto& last = election.view.seen;
  return last && last->last_release ? last->last_release->heir : "another member";
}

std::string slots_text(std::uint32_t count) {
  return std::to_string(count) + (count == 1 ? " slot" : " slots");
}

std::string text_of(const core::held_back& what, const election_snapshot& election,
                    const snapshot& seen, const instant& at) {
  switch (what.why) {
    case core::campaign_obstacle::none:
      break;
    case core::campaign_obstacle::paused:
      return "it is paused; `tenure resume` ends that";
    case core::campaign_obstacle::no_guard:
      return "it has no guard that could run its workload";
    case core::campaign_obstacle::unhealthy:
      return "its workload is unhealthy" + health_reason(seen);
    case core::campaign_obstacle::resigned:
      return "it was told to resign; " + again_in(what.until, at);
    case core::campaign_obstacle::was_unhealthy:
      return "its workload was unhealthy; " + again_in(what.until, at);
    case core::campaign_obstacle::heir_first:
      return "it lets " + heir_of(election) + " come first, as the last holder has asked";
    case core::campaign_obstacle::other_slots:
    case core::campaign_obstacle::identity_used:
    case core::campaign_obstacle::old_version:
      return disagreement_text(what.why, election.view,
                               {.election = election.name,
                                .identity = seen.identity,
                                .store = seen.store,
                                .slots = election.slots});
  }
  return {};
}

/// What to do about a store that grants smaller versions than before. Only etcd can be told to
/// count on from a larger one, and Kubernetes counts by the revisions of its etcd.
std::string ways_out(std::string_view store, const std::string& election) {
  const std::string accept = "if all that checks versions may see smaller ones, say: tenure set " +
                             election + " --accept-versions";
  const std::string restore =
      "etcdutl snapshot restore FILE --data-dir DIR --bump-revision 1000000000 --mark-compacted";
  if (store == "etcd") {
    return "restore it again with larger ones (" + restore + "), or, " + accept;
  }
  if (store == "kubernetes") {
    return "restore the cluster's etcd again with larger revisions (" + restore + "), or, " +
           accept;
  }
  if (store == "consul") {
    return "wait until Consul's index, which grows with each write, is larger, or, " + accept;
  }
  return "end all members and raise the version in the file (docs/operations.md)";
}

}  // namespace

std::string disagreement_text(core::campaign_obstacle what, const core::election_view& view,
                              const member_settings& ours) {
  const std::string name(ours.election);
  switch (what) {
    case core::campaign_obstacle::other_slots: {
      const core::observation seen = view.seen.value_or(core::observation{});
      return "it is set up for " + slots_text(ours.slots) + ", and the election \"" + name +
             "\" has " + std::to_string(seen.agreed.slots) +
             " in the store; it waits until those that hold or have that number have gone: " +
             base::listed(core::keepers_of_slots(seen, ours.identity));
    }
    case core::campaign_obstacle::identity_used:
      return "another agent takes part as \"" + std::string(ours.identity) +
             "\"; give each an identity of its own, or end the other one";
    case core::campaign_obstacle::old_version: {
      if (!view.regressed) return {};
      const std::uint64_t granted = core::number(view.regressed->granted);
      const std::uint64_t seen = core::number(view.regressed->seen);
      const std::string back = granted == seen
                                   ? "a second time"
                                   : "after version " + std::to_string(seen) + " was seen, " +
                                         std::to_string(seen - granted) + " versions back";
      return "the store granted version " + std::to_string(granted) + " " + back +
             ", as after a restore; " + ways_out(ours.store, name);
    }
    default:
      return {};
  }
}

std::optional<wire::obstacle> obstacle_of(const election_snapshot& election, const snapshot& seen,
                                          const instant& at) {
  const core::held_back& what = election.view.held_back;
  if (what.why == core::campaign_obstacle::none || what.until <= at.now) return std::nullopt;
  return wire::obstacle{.reason = std::string(core::name(what.why)),
                        .text = text_of(what, election, seen, at)};
}

}  // namespace tenure::api
