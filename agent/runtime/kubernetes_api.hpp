#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "http/client/http_client.hpp"
#include "kube/api_server.hpp"
#include "settings/kubernetes.hpp"
#include "settings/security.hpp"

namespace tenure::runtime {

/// A client of the API server of the pod's cluster, which need not be the store. The error says
/// what is wrong with its URL. A file that cannot be used makes requests fail until it can.
std::expected<std::unique_ptr<kube::api_server>, std::string> make_kubernetes_api(
    base::event_loop& on, const http::http_connector& connect, const settings::pod_cluster& to);

/// A client of the cluster with these API servers.
std::expected<std::unique_ptr<kube::api_server>, std::string> make_kubernetes_api(
    base::event_loop& on, const http::http_connector& connect, const std::vector<std::string>& to,
    const settings::security& with);

}  // namespace tenure::runtime
