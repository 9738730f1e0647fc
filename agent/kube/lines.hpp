#pragma once

#include <string>
#include <string_view>

#include "core/vocabulary.hpp"
#include "kube/container_end.hpp"
#include "kube/right.hpp"
#include "kube/traffic_switch.hpp"
#include "log/logger.hpp"
#include "log/speaker.hpp"
#include "settings/kubernetes.hpp"

/// What the log says of what is done to Kubernetes: one function per line.
namespace tenure::kube {

/// Whose line it is.
struct pod_speaker {
  log::speaker who;
  const settings::kubernetes& its;
};

void say(log::logger& to, const pod_speaker& by, const notice::named_us& what);
void say(log::logger& to, const pod_speaker& by, const notice::not_named& what);
void say(log::logger& to, const pod_speaker& by, const notice::works_again& what);
void say(log::logger& to, const pod_speaker& by, const notice::overtaken& what);
void say(log::logger& to, const pod_speaker& by, const notice::failed& what);
void say(log::logger& to, const pod_speaker& by, const notice::led_astray& what);

/// "EndpointSlice db-x7k2p (endpointslice-controller.k8s.io) leads clients of Service db to
/// 10.0.0.7, and not to the active pod alone": a slice of others.
std::string text(const marked_object& slice);
/// The command that ends that.
std::string remedy_for(const marked_object& slice, std::string_view name_space);

/// At the start: our ServiceAccount may not do what the settings need.
void say_right_missing(log::logger& to, std::string_view identity, const right& what);

/// The kubelet shows that the term of this holder has ended with its container.
void say_container_ended(log::logger& to, log::speaker who, const core::holder& whose,
                         const container_end& how);
/// Said once: the pod of a holder cannot be watched.
void say_witness_blind(log::logger& to, std::string_view identity, std::string_view pod,
                       const api_failure& why, const right& what);

/// For who looks into it (level debug).
void say_event_missed(log::logger& to, std::string_view identity, std::string_view why);
/// Said once: no Event can be written.
void say_no_events(log::logger& to, std::string_view identity, std::string_view why,
                   const right& what);

}  // namespace tenure::kube
