#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"

/// What the process gives to `load`. Only this file of the room asks the system.
namespace tenure::config {

/// Reads a configuration file. The problem names the path and the system's reason. A file larger
/// than `max_file_bytes` is refused before it is read.
file_result read_file(const std::string& path);

/// What is wrong here with the places that a good configuration names: files that others can write
/// to, and a lease file where every user could put links. What is not there is not judged: it may
/// come later, or be on another machine.
std::vector<problem> problems_here(const configuration& s);

/// The environment variables of this process that may be settings (`may_be_setting`), without
/// the secrets among them. Not to be called while another thread changes the environment.
std::vector<name_and_value> environment();

/// What `KUBECONFIG` names; nothing if it is not set, or empty.
std::optional<kubeconfig_variable> kubeconfig_of_environment();

/// What Kubernetes has given to this pod; nothing if this is none, or one without a token in
/// `folder`.
std::optional<pod> this_pod(
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

/// This machine's name: the pod's name on Kubernetes. Empty if there is none.
std::string host_name();

}  // namespace tenure::config
