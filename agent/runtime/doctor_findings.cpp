#include "runtime/doctor_findings.hpp"

#include <algorithm>
#include <utility>

#include "base/duration_text.hpp"
#include "base/list_text.hpp"
#include "base/number_text.hpp"
#include "core/timing.hpp"
#include "kube/lines.hpp"
#include "settings/store_kind.hpp"

namespace tenure::runtime {
namespace {

using kube::container_view;
using kube::pod_view;
using std::chrono::seconds;

/// What a pod needs after the drain, for the kill and the release of the lease.
constexpr core::duration after_drain = seconds(5);
/// A Date header has whole seconds.
constexpr std::chrono::milliseconds clocks_differ{5000};

std::string seconds_text(core::duration what) {
  return std::string(base::spoken(what).view());
}

std::string text_of(core::version version) {
  return std::to_string(core::number(version));
}

std::string holders_text(const core::observation& seen) {
  if (seen.holders.empty()) return "nobody holds it";
  return base::listed(seen.holders, [](const core::holder& one) {
    return one.identity + " under version " + text_of(one.version);
  });
}

bool runs(const container_view& one, std::string_view verb) {
  const auto at = std::ranges::find(one.words, verb);
  if (at == one.words.end()) return false;
  return at == one.words.begin() || std::prev(at)->ends_with("tenure");
}

/// The value of a flag in a command line; nothing if it is not there.
std::optional<std::string> flag_in(const std::vector<std::string>& words, const std::string& flag) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with(flag + "=")) return words[i].substr(flag.size() + 1);
    if (words[i] == flag && i + 1 < words.size()) return words[i + 1];
  }
  return std::nullopt;
}

/// How long the workload gets to end, and who says that.
std::pair<core::duration, std::string> drain_of(const settings::agent& of, const pod_view& pod) {
  for (const container_view& one : pod.containers) {
    if (!runs(one, "guard")) continue;
    const auto given = flag_in(one.words, "--drain");
    const auto drain = base::read_duration(given.value_or(""), core::max_drain);
    if (!given || drain) return {drain.value_or(core::default_drain), "its guard's drain"};
  }
  return {of.timing.drain, "drain"};
}

finding grace_finding(const settings::agent& of, const pod_view& pod) {
  finding out{.check = "grace"};
  const auto [drain, whose] = drain_of(of, pod);
  std::int64_t sleeps = 0;
  bool waits = false;
  for (const container_view& one : pod.containers) {
    sleeps = std::max(sleeps, one.pre_stop_seconds);
    waits = waits || (one.has_pre_stop && one.pre_stop_seconds <= 0);
  }
  const core::duration rest = std::max(after_drain, of.timing.kill_budget);
  const auto least = std::chrono::ceil<seconds>(drain + rest).count() + sleeps;
  const std::string sum = whose + " " + seconds_text(drain) +
                          (sleeps > 0 ? " + preStop " + std::to_string(sleeps) + " s" : "") +
                          " + " + seconds_text(rest) + " for the kill and the release";
  const std::string given = "terminationGracePeriodSeconds " + std::to_string(pod.grace_seconds);
  if (pod.grace_seconds < least) {
    out.result = verdict::warn;
    out.text = given + " is less than " + sum +
               ", so the kubelet may kill the workload, and the "
               "lease runs out instead of being released";
    out.action = "give at least " + std::to_string(least) + ", or a shorter drain";
  } else if (waits) {
    out.result = verdict::warn;
    out.text = given + " has room for " + sum + ", but a preStop hook takes some of it first";
    out.action =
        "make sure that the hook ends within " + std::to_string(pod.grace_seconds - least) + " s";
  } else {
    out.text = given + " has room for " + sum;
  }
  return out;
}

/// True if the directory is in what is mounted there.
bool is_in(const std::string& directory, const std::string& mounted) {
  return directory == mounted || directory.starts_with(mounted + "/");
}

finding volume_finding(const settings::agent& of, const pod_view& pod) {
  finding out{.check = "volume"};
  for (const container_view& one : pod.containers) {
    for (const kube::mount& ours : one.mounts) {
      if (!is_in(of.guard_dir, ours.path)) continue;
      const auto has_it = [&ours](const container_view& other) {
        return std::ranges::find(other.mounts, ours.volume, &kube::mount::volume) !=
               other.mounts.end();
      };
      const auto sharers = std::ranges::count_if(pod.containers, has_it);
      if (sharers < 2) continue;
      out.text = "volume " + ours.volume + " at " + of.guard_dir + " is shared by " +
                 std::to_string(sharers) + " containers";
      return out;
    }
  }
  out.result = verdict::bad;
  out.text = "no volume at " + of.guard_dir +
             " is shared by two containers of the pod, so agent and guard do not find each other";
  out.action = "mount an emptyDir there in both (docs/sidecar.md)";
  return out;
}

finding processes_finding(const pod_view& pod) {
  finding out{.check = "processes"};
  out.text = "the containers of the pod share their processes";
  if (pod.shares_processes) return out;
  out.result = verdict::bad;
  out.text = "the containers of the pod do not share their processes, so the target is not found";
  out.action = "set shareProcessNamespace: true (docs/signal-mode.md)";
  return out;
}

finding witness_finding(const pod_view& pod) {
  finding out{.check = "witness"};
  out.text = "each container of the pod has its own processes, so the kubelet shows their end";
  if (!pod.shares_processes) return out;
  out.result = verdict::warn;
  out.text =
      "the containers of the pod share their processes, so the end of one says nothing of them, "
      "and witness is of no use";
  out.action = "remove shareProcessNamespace, or witness (docs/kubernetes.md)";
  return out;
}

bool ends_all_at_once(const kube::workload_view& of) {
  if (of.kind != "Deployment") return of.strategy == "OnDelete";
  if (of.strategy == "Recreate") return true;
  const auto count = base::read_number<std::int64_t>(of.max_unavailable);
  return of.max_unavailable == "100%" || (count && *count >= of.replicas);
}

}  // namespace

std::string_view word(verdict what) {
  switch (what) {
    case verdict::ok:
      return "ok";
    case verdict::warn:
      return "warn";
    case verdict::bad:
      return "BAD";
    case verdict::skip:
      break;
  }
  return "skip";
}

finding budget_finding(const settings::agent& of, const stores::description& store) {
  const core::timing& t = of.timing;
  finding out{.check = "budget"};
  const std::string title(settings::title_of_store(of.store));
  if (t.ttl < store.min_ttl || t.ttl > store.max_ttl) {
    const bool is_short = t.ttl < store.min_ttl;
    out.result = verdict::bad;
    out.text = title + " grants no lease of " + seconds_text(t.ttl);
    out.action = std::string("give a ttl of at ") + (is_short ? "least " : "most ") +
                 seconds_text(is_short ? store.min_ttl : store.max_ttl);
    return out;
  }
  const core::budget b = t.of(t.ttl);
  out.text = "ttl " + seconds_text(t.ttl) + ": without a renewal the workload is asked to end at " +
             seconds_text(b.stop_at) + " and killed at " + seconds_text(b.kill_at);
  if (!of.consul.without_ttl) {
    out.text += "; a fail-over takes " +
                seconds_text(core::explain(t, store.expiry_lag).worst_failover) + " at most";
  }
  return out;
}

std::vector<finding> election_findings(const settings::election& one,
                                       const core::observation& seen) {
  std::vector<finding> out;
  std::string text = one.name + ": " + holders_text(seen);
  if (seen.members && !seen.members->empty()) {
    text += "; members " + base::listed(*seen.members, &core::member::identity);
  }
  out.push_back({.check = "holder", .text = std::move(text)});
  const auto keepers = core::keepers_of_slots(seen, "");
  if (seen.agreed.slots != 0 && seen.agreed.slots != one.slots && !keepers.empty()) {
    out.push_back({.check = "slots",
                   .result = verdict::warn,
                   .text = one.name + " has " + std::to_string(seen.agreed.slots) +
                           " in the store and " + std::to_string(one.slots) +
                           " in these settings; a member with them waits until those that hold or "
                           "have the number in the store have gone: " +
                           base::listed(keepers),
                   .action = "restart these with the new number, or set slots to " +
                             std::to_string(seen.agreed.slots) + " here"});
  }
  const core::version from = seen.agreed.versions_from;
  const core::version released = seen.last_release ? seen.last_release->version : core::no_version;
  if (from != core::no_version) {
    out.push_back({.check = "versions",
                   .text = one.name + ": versions from " + text_of(from) +
                           " on are accepted, although there were larger ones"});
  } else if (released > seen.as_of && seen.as_of != core::no_version) {
    out.push_back({.check = "versions",
                   .result = verdict::warn,
                   .text = one.name + ": the store is at version " + text_of(seen.as_of) +
                           ", and version " + text_of(released) +
                           " was released before, as after a restore",
                   .action = "if all that checks versions may see smaller ones, say: tenure set " +
                             one.name + " --accept-versions"});
  }
  return out;
}

finding clock_finding(std::string_view server, std::chrono::milliseconds ahead,
                      core::duration round_trip) {
  finding out{.check = "clocks"};
  const std::chrono::milliseconds off = std::chrono::abs(ahead);
  const std::string about = seconds_text(std::chrono::round<seconds>(off));
  if (off <= clocks_differ + round_trip) {
    out.text = "the clock of " + std::string(server) + " differs from this one by " +
               (off < seconds(1) ? "less than 1 s" : about);
    return out;
  }
  out.result = verdict::warn;
  out.text = "the clock of " + std::string(server) + " is " + about +
             (ahead.count() > 0 ? " ahead of" : " behind") +
             " this one: leases do not go by it, but tokens, certificates and times in logs do";
  out.action = "check the time synchronization of both";
  return out;
}

finding right_finding(const kube::right& what) {
  using enum kube::right_use;
  const bool is_needed = what.use == leases || what.use == traffic;
  return {.check = "rights",
          .result = is_needed ? verdict::bad : verdict::warn,
          .text = "lacks the right to " + kube::text(what),
          .action = "add to its Role: " + kube::rule_for(what) + " (docs/" +
                    (what.use == leases    ? "kubernetes.md#permissions)"
                     : what.use == witness ? "kubernetes.md#a-pod-that-dies-with-its-agent)"
                                           : "traffic.md)")};
}

std::vector<finding> slice_findings(const settings::kubernetes& its,
                                    const std::vector<kube::marked_object>& of_others) {
  std::vector<finding> out;
  for (const kube::marked_object& one : of_others) {
    out.push_back({.check = "traffic",
                   .result = verdict::bad,
                   .text = kube::text(one),
                   .action = kube::remedy_for(one, its.pod_namespace)});
  }
  if (out.empty()) {
    out.push_back({.check = "traffic",
                   .result = verdict::ok,
                   .text = "no EndpointSlice of others leads clients elsewhere"});
  }
  return out;
}

std::vector<finding> pod_findings(const settings::agent& of, const pod_view& pod) {
  std::vector<finding> out;
  if (!of.observe) out.push_back(grace_finding(of, pod));
  if (!of.guard_dir.empty()) out.push_back(volume_finding(of, pod));
  if (of.target.given()) out.push_back(processes_finding(pod));
  if (of.kubernetes.has_witness()) out.push_back(witness_finding(pod));
  if (of.kubernetes.traffic == settings::traffic::gate && !pod.has_gate) {
    out.push_back(
        {.check = "traffic",
         .result = verdict::bad,
         .text = "traffic is gate, and the pod does not await its condition, so a Service "
                 "leads to standbys, too",
         .action = "add readinessGates: [{conditionType: tenure.dev/active}] to the pod"});
  }
  return out;
}

bool only_active_is_ready(const pod_view& pod) {
  return pod.has_gate || std::ranges::any_of(pod.containers, &container_view::asks_who_leads);
}

finding roll_out_finding(const std::optional<kube::workload_view>& of) {
  finding out{.check = "roll-out"};
  if (!of || of->kind == "ReplicaSet") {
    out.text = "only the active pod is Ready, and nothing rolls the pod out";
    return out;
  }
  const std::string name = of->kind + " " + of->name;
  if (ends_all_at_once(*of)) {
    out.text =
        "only the active pod is Ready, and a roll-out of " + name + " does not wait for more";
    return out;
  }
  const bool is_deployment = of->kind == "Deployment";
  out.result = verdict::bad;
  out.text = "only the active pod is Ready, so a roll-out of " + name +
             (is_deployment ? " never ends" : " stops after its first pod");
  out.action = is_deployment ? "set its strategy to Recreate, or maxUnavailable to 100%, or use "
                               "traffic: endpoints or label (docs/traffic.md)"
                             : "set its updateStrategy to OnDelete, or use traffic: endpoints or "
                               "label (docs/traffic.md)";
  return out;
}

}  // namespace tenure::runtime
