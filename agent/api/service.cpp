#include "api/service.hpp"

#include <functional>
#include <utility>

namespace tenure::api {
namespace {

/// What to do if this listener cannot be opened.
std::string advice(listener which) {
  if (which == listener::socket) return "; give another path with --socket, or none";
  if (which == listener::local_socket) return "; give another directory with --runtime-dir, or off";
  const std::string flag = which == listener::api ? "--listen" : "--probe-listen";
  return "; give another address with " + flag + ", or " + flag + " off";
}

service_error failed(listener which, http::listen_error&& why) {
  return {.which = which, .kind = why.kind, .text = std::move(why.text) + advice(which)};
}

}  // namespace

std::size_t service_settings::descriptors() const {
  const std::size_t listeners = (api ? 1U : 0U) + (probe ? 1U : 0U) + (socket.empty() ? 0U : 1U) +
                                (local_socket.empty() ? 0U : 1U);
  return listeners * (1 + limits.connections + limits.readers);
}

std::expected<std::unique_ptr<service>, service_error> service::start(
    published& from, service_settings with, clocks time, fresh_reader fresh, controller control) {
  std::unique_ptr<service> out(new service(from));
  http::http_server& server = out->server_;
  out->handlers_ =
      std::make_unique<handlers>(from, std::move(time),
                                 handlers::settings{.reach = {.hosts = std::move(with.hosts),
                                                              .who = with.control,
                                                              .orders = control != nullptr,
                                                              .metrics = with.metrics != nullptr},
                                                    .beat_bound = with.beat_bound,
                                                    .fresh = std::move(fresh),
                                                    .control = std::move(control),
                                                    .metrics = with.metrics,
                                                    .wake = [&server] { server.news(); }});
  handlers* const all = out->handlers_.get();
  const http::http_server::deferring_handler api = std::bind_front(&handlers::api, all);
  if (with.api) {
    auto bound = server.listen_on(*with.api, api, with.limits, with.api_traffic);
    if (!bound) return std::unexpected(failed(listener::api, std::move(bound.error())));
    out->api_ = std::move(*bound);
  }
  for (const auto& [which, path] : {std::pair{listener::socket, &with.socket},
                                    std::pair{listener::local_socket, &with.local_socket}}) {
    if (path->empty()) continue;
    auto bound = server.listen_on_path(*path, api, with.limits, with.api_traffic);
    if (!bound) return std::unexpected(failed(which, std::move(bound.error())));
  }
  if (with.probe) {
    const http::http_server::deferring_handler probe = std::bind_front(&handlers::probe, all);
    auto bound = server.listen_on(*with.probe, probe, with.limits, with.probe_traffic);
    if (!bound) return std::unexpected(failed(listener::probe, std::move(bound.error())));
    out->probe_ = std::move(*bound);
  }
  server.attend_with([all] { return all->attend(); });
  from.on_change([&server] { server.news(); });
  if (auto started = server.start(); !started) {
    return std::unexpected(service_error{.text = std::move(started.error())});
  }
  return out;
}

service::~service() {
  stop();
}

void service::stop() {
  if (published_ == nullptr) return;
  std::exchange(published_, nullptr)->on_change({});
  server_.shutdown();
}

}  // namespace tenure::api
