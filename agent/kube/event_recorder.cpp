#include "kube/event_recorder.hpp"

#include <utility>

#include "kube/codec.hpp"
#include "kube/lines.hpp"

namespace tenure::kube {

void event_recorder::record(event_note what, const std::string& lease) {
  if (under_way_ >= most_under_way) return limit_.leave_out();
  const auto left_out = limit_.let_through(with_.loop.now());
  if (!left_out) return;
  if (*left_out > 0) {
    what.note += "; " + std::to_string(*left_out) + " Events before were left out";
  }
  write(what, {.api_version = "v1",
               .kind = "Pod",
               .name_space = with_.its.pod_namespace,
               .name = with_.its.pod_name,
               .uid = with_.its.pod_uid});
  if (with_.its.has_leases) find_lease(what, lease);
}

/// `kubectl describe` finds Events by the uid of their object.
void event_recorder::find_lease(const event_note& what, const std::string& lease) {
  ++under_way_;
  with_.through.call(lease_request(with_.lease_namespace, lease), with_.loop.now() + with_.patience,
                     [this, what, lease](const api_reply& reply) {
                       --under_way_;
                       write(what, {.api_version = "coordination.k8s.io/v1",
                                    .kind = "Lease",
                                    .name_space = with_.lease_namespace,
                                    .name = lease,
                                    .uid = reply ? read_uid(*reply, lease) : std::string()});
                     });
}

void event_recorder::write(const event_note& what, const event_subject& about) {
  ++under_way_;
  with_.through.call(event_request(what, about, with_.its.pod_name, with_.unix_ms()),
                     with_.loop.now() + with_.patience,
                     [this, about](const api_reply& reply) { answered(about, reply); });
}

void event_recorder::answered(const event_subject& about, const api_reply& what) {
  --under_way_;
  if (!what) say_event_missed(with_.to, with_.identity, what.error().why);
  const bool is_forbidden = !what && what.error().what == api_refusal::forbidden;
  if (is_forbidden && !std::exchange(said_forbidden_, true)) {
    say_no_events(with_.to, with_.identity, what.error().why, event_right(about.name_space));
  }
  if (answered_) answered_();
}

}  // namespace tenure::kube
