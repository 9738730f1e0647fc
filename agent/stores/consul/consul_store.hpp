#pragma once

#include <expected>
#include <memory>

#include "base/event_loop.hpp"
#include "http/client/http_client.hpp"
#include "stores/store.hpp"

namespace tenure::stores {

/// A store in Consul 1.8 or later, through the HTTP API of its agents.
///
/// `with.endpoints` are URLs of agents of one cluster, or `unix:/path` of an agent's socket. Keys
/// are laid out as by `consul lock` (stores/consul/layout.hpp); versions are the ModifyIndex of the
/// write that took the slot. All elections share one session, so one request renews them.
std::expected<std::unique_ptr<store>, open_error> make_consul_store(
    base::event_loop& on, const http::http_connector& connect, setup with);

}  // namespace tenure::stores
