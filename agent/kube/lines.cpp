#include "kube/lines.hpp"

#include <string>

#include "core/version.hpp"
#include "kube/codec.hpp"

namespace tenure::kube {
namespace {

using log::log_level;
using settings::traffic;

std::string text_of(core::version version) {
  return std::to_string(core::number(version));
}

std::string slices_of(const settings::kubernetes& its) {
  std::string out = its.slices.size() == 1 ? "EndpointSlice " : "EndpointSlices ";
  for (const std::string& one : its.slices)
    out.append(&one == &its.slices.front() ? "" : ", ").append(one);
  return out;
}

/// Where it shows which pod is active.
std::string place_of(const settings::kubernetes& its) {
  switch (its.traffic) {
    case traffic::gate:
      return "the pod's condition tenure.dev/active";
    case traffic::label:
      return "the pod's label tenure.dev/role";
    case traffic::endpoints:
      return slices_of(its);
    case traffic::probe:
      break;
  }
  return {};
}

void write(log::logger& to, log_level level, const std::string& sentence, const pod_speaker& by) {
  to.write(
      level, sentence,
      {{"election", by.who.election}, {"identity", by.who.identity}, {"pod", by.its.pod_name}});
}

std::string consequence(traffic_wish::kind wish) {
  switch (wish) {
    case traffic_wish::kind::active:
      return "this pod is active and is not named as the active one, so no traffic comes to it";
    case traffic_wish::kind::gaining:
      return "another pod may still be named as the active one";
    case traffic_wish::kind::standby:
    case traffic_wish::kind::as_it_is:
      break;
  }
  return "this pod may still be named as the active one";
}

/// The right that a request needs.
right right_of(const traffic_request& asked, const settings::kubernetes& its) {
  using kind = traffic_request::kind;
  const std::string_view verb = asked.what == kind::list   ? "list"
                                : asked.what == kind::read ? "get"
                                                           : "patch";
  return traffic_right(its, verb, asked.object);
}

/// What does not come about without the right.
std::string_view without(right_use what) {
  switch (what) {
    case right_use::other_slices:
      return "it is not seen if other slices lead clients elsewhere";
    case right_use::events:
      return "gains and losses do not become Events";
    case right_use::witness:
      return "the lease of a pod whose containers have died runs out by itself";
    case right_use::traffic:
    case right_use::leases:
      break;
  }
  return "traffic will not find the active pod";
}

std::string advice(const notice::failed& what, const settings::kubernetes& its) {
  switch (what.why.what) {
    case api_refusal::forbidden:
      return "; add to the Role of its ServiceAccount: " + rule_for(right_of(what.asked, its));
    case api_refusal::unauthorized:
      return "; check the ServiceAccount of the pod, and its token";
    case api_refusal::missing:
      if (its.traffic != traffic::endpoints) return "; check pod_name and pod_namespace";
      return "; apply it with the Service (docs/traffic.md), or check traffic_slice";
    case api_refusal::unknown:
    case api_refusal::conflict:
      return "; retrying";
    case api_refusal::invalid:
      break;
  }
  return {};
}

}  // namespace

void say(log::logger& to, const pod_speaker& by, const notice::named_us& what) {
  if (what.again) {
    write(to, log_level::warn,
          "somebody else had changed " + place_of(by.its) +
              ": it names this pod as the active one again",
          by);
    return;
  }
  write(to, log_level::info,
        "named as the active pod, by " + place_of(by.its) + " (version " + text_of(what.version) +
            ")",
        by);
}

void say(log::logger& to, const pod_speaker& by, const notice::not_named&) {
  write(to, log_level::info, "no longer named as the active pod, by " + place_of(by.its), by);
}

void say(log::logger& to, const pod_speaker& by, const notice::works_again&) {
  write(to, log_level::info, "Kubernetes shows again which pod is active", by);
}

void say(log::logger& to, const pod_speaker& by, const notice::overtaken& what) {
  const bool is_slice = by.its.traffic == traffic::endpoints;
  const std::string kind = is_slice ? "endpointslice" : "pod";
  const std::string remedy = by.its.traffic == traffic::gate
                                 ? "delete the pod"
                                 : "kubectl annotate -n " + by.its.pod_namespace + " " + kind +
                                       " " + what.object + " tenure.dev/version-";
  write(to, log_level::warn,
        kind + " " + what.object + " has version " + text_of(what.by) + ", later than ours, " +
            text_of(what.ours) +
            ": nothing is written. If this member stays active, that version is of another store "
            "or from before a restore: " +
            remedy,
        by);
}

void say(log::logger& to, const pod_speaker& by, const notice::failed& what) {
  const bool may_pass =
      what.why.what == api_refusal::unknown || what.why.what == api_refusal::conflict;
  write(to, may_pass ? log_level::warn : log_level::error,
        consequence(what.wanted) + ": " + what.why.why + advice(what, by.its), by);
}

std::string text(const marked_object& slice) {
  std::string out = "EndpointSlice " + slice.name;
  if (!slice.keeper.empty()) out += " (" + slice.keeper + ")";
  out += " leads clients of Service " + slice.service + " to ";
  for (const std::string& one : slice.addresses) {
    out.append(&one == &slice.addresses.front() ? "" : ", ").append(one);
  }
  return out + ", and not to the active pod alone";
}

std::string remedy_for(const marked_object& slice, std::string_view name_space) {
  const std::string where = " -n " + std::string(name_space) + " ";
  if (slice.keeper != slice_controller && slice.keeper != mirror_controller) {
    return "kubectl delete endpointslice" + where + slice.name;
  }
  // Kubernetes then takes away both, whether the Service selects other pods or none.
  return "kubectl patch service" + where + slice.service +
         R"( --type=merge -p '{"spec":{"selector":{")" + std::string(no_pod_label) + R"(":")" +
         std::string(no_pod_value) + R"("}}}')";
}

void say(log::logger& to, const pod_speaker& by, const notice::led_astray& what) {
  if (what.by.empty()) {
    return write(to, log_level::info, "no EndpointSlice of others leads clients elsewhere any more",
                 by);
  }
  for (const marked_object& one : what.by) {
    write(to, log_level::error, text(one) + ": " + remedy_for(one, by.its.pod_namespace), by);
  }
}

void say_right_missing(log::logger& to, std::string_view identity, const right& what) {
  const bool is_traffic = what.use == right_use::traffic;
  to.write(is_traffic ? log_level::error : log_level::warn,
           "the ServiceAccount of this pod may not " + text(what) + ", so " +
               std::string(without(what.use)) + "; add to its Role: " + rule_for(what),
           {{"identity", identity}});
}

void say_container_ended(log::logger& to, log::speaker who, const core::holder& whose,
                         const container_end& how) {
  to.write(log_level::info,
           "the kubelet shows that container " + how.container + " of the holder has ended (" +
               how.reason + ", exit code " + std::to_string(how.exit_code) +
               "): ending its term, too",
           {{"election", who.election},
            {"identity", who.identity},
            {"holder", whose.identity},
            {"version", text_of(whose.version)}});
}

void say_witness_blind(log::logger& to, std::string_view identity, std::string_view pod,
                       const api_failure& why, const right& what) {
  const bool is_forbidden = why.what == api_refusal::forbidden;
  to.write(log_level::warn,
           "cannot see how the containers of the holder's pod end, which is not said again; a "
           "lease of theirs runs out by itself: " +
               why.why +
               (is_forbidden ? "; add to the Role of the ServiceAccount: " + rule_for(what)
                             : "; retrying"),
           {{"identity", identity}, {"pod", pod}});
}

void say_event_missed(log::logger& to, std::string_view identity, std::string_view why) {
  to.write(log_level::debug, "an Event was not written: " + std::string(why),
           {{"identity", identity}});
}

void say_no_events(log::logger& to, std::string_view identity, std::string_view why,
                   const right& what) {
  to.write(log_level::warn,
           "no Events are written, which is not said again: " + std::string(why) +
               "; add to the Role of the ServiceAccount: " + rule_for(what),
           {{"identity", identity}});
}

}  // namespace tenure::kube
