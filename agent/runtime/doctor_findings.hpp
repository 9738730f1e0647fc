#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "kube/marked_object.hpp"
#include "kube/pod_view.hpp"
#include "kube/right.hpp"
#include "settings/agent.hpp"
#include "stores/store.hpp"

/// What `tenure doctor` makes of what it has seen. No I/O.
namespace tenure::runtime {

enum class verdict : std::uint8_t {
  ok,
  warn,  ///< works now, and somebody should look into it
  bad,   ///< does not work
  skip,  ///< was not looked at; the text says why
};

/// "ok", "warn", "BAD", "skip"
std::string_view word(verdict what);

struct finding {
  std::string check;  ///< stable: "store", "grace"
  verdict result = verdict::ok;
  std::string text{};
  std::string action{};  ///< what to do; empty: nothing

  friend bool operator==(const finding&, const finding&) = default;
};

/// Do the limits of the store admit the time budget?
finding budget_finding(const settings::agent& of, const stores::description& store);

/// Who holds this election, and whether a member with these settings may campaign.
std::vector<finding> election_findings(const settings::election& one,
                                       const core::observation& seen);

/// How far a server's clock is from ours. `round_trip`: how long the request took.
finding clock_finding(std::string_view server, std::chrono::milliseconds ahead,
                      core::duration round_trip);

/// The right is missing.
finding right_finding(const kube::right& what);

/// Where other slices than ours lead the clients of our Service.
std::vector<finding> slice_findings(const settings::kubernetes& its,
                                    const std::vector<kube::marked_object>& of_others);

/// What the spec of the pod means for a member with these settings, but for roll-outs.
std::vector<finding> pod_findings(const settings::agent& of, const kube::pod_view& pod);

/// True if at most the active pod is ever Ready.
bool only_active_is_ready(const kube::pod_view& pod);

/// Do roll-outs of this workload end? Precondition: only the active pod is Ready. Nothing: nobody
/// replaces the pod.
finding roll_out_finding(const std::optional<kube::workload_view>& of);

}  // namespace tenure::runtime
