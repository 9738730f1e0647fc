#pragma once

#include <expected>
#include <memory>

#include "base/event_loop.hpp"
#include "http/client/http_client.hpp"
#include "stores/store.hpp"

namespace tenure::stores {

/// A store in Leases of Kubernetes (coordination.k8s.io/v1), through its API servers.
///
/// `with.endpoints` are URLs of API servers of one cluster. Leases are used as by client-go's
/// `leaderelection` (stores/kubernetes/layout.hpp); versions are the resourceVersion of the write
/// that took the slot.
std::expected<std::unique_ptr<store>, open_error> make_kubernetes_store(
    base::event_loop& on, const http::http_connector& connect, setup with);

}  // namespace tenure::stores
