#pragma once

#include <expected>
#include <memory>

#include "base/event_loop.hpp"
#include "http/client/http_client.hpp"
#include "stores/store.hpp"

namespace tenure::stores {

/// A store in etcd 3.4 or later, through its JSON gateway.
///
/// `with.endpoints` are URLs of servers of one cluster. Keys are laid out as by etcd's own
/// `concurrency` package (stores/etcd/layout.hpp); versions are create_revisions. All elections
/// share one lease, so one request renews them.
std::expected<std::unique_ptr<store>, open_error> make_etcd_store(
    base::event_loop& on, const http::http_connector& connect, setup with);

}  // namespace tenure::stores
