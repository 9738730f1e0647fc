#include "runtime/kubernetes_api.hpp"

#include <span>
#include <utility>

#include "kube/codec_reader.hpp"
#include "settings/endpoint.hpp"
#include "stores/kubernetes/cluster.hpp"
#include "stores/kubernetes/document_stream.hpp"

namespace tenure::runtime {
namespace {

using stores::kubernetes::call_failure;
using stores::kubernetes::cluster;
using stores::kubernetes::error_meaning;
using stores::kubernetes::reply_or_failure;

constexpr std::uint16_t https_port = 443;
/// Requests that wait for a connection: one for each pod of an election.
constexpr std::size_t most_calls = 1024;
/// An answer: all pods of an election.
constexpr std::size_t most_bytes = std::size_t{16} * 1024 * 1024;

kube::api_failure failure_of(call_failure what, const stores::sent_secrets& sent) {
  using enum kube::api_refusal;
  kube::api_failure out{.why = sent.hide(std::move(what.why))};
  switch (what.meaning) {
    case error_meaning::conflict:
      out.what = conflict;
      break;
    case error_meaning::missing:
      out.what = missing;
      break;
    case error_meaning::unauthorized:
      out.what = unauthorized;
      break;
    case error_meaning::denied:
      out.what = forbidden;
      break;
    case error_meaning::invalid:
      out.what = invalid;
      break;
    default:
      break;
  }
  return out;
}

kube::api_reply reply_of(reply_or_failure what, const stores::sent_secrets& sent) {
  if (!what) return std::unexpected(failure_of(std::move(what.error()), sent));
  if (what->body.size() > most_bytes) {
    return std::unexpected(
        kube::api_failure{.why = "its answer has " + std::to_string(what->body.size()) +
                                 " bytes, more than " + std::to_string(most_bytes)});
  }
  return std::move(what->body);
}

/// One watch at the API server.
class pod_cluster_stream final : public kube::api_stream {
 public:
  pod_cluster_stream(cluster& through, const stores::kubernetes::request& what,
                     core::time_point deadline, kube::stream_handlers on,
                     std::shared_ptr<stores::sent_secrets> sent)
      : on_(std::move(on)),
        sent_(std::move(sent)),
        stream_(through, what, deadline,
                {.confirmed = [] {},
                 .shows = [this](std::span<const std::string> documents,
                                 std::size_t) { take(documents); },
                 .ended =
                     [this](const call_failure& why) {
                       const auto ended = on_.ended;  // It may destroy us.
                       ended(failure_of(why, *sent_));
                     }},
                kube::most_levels) {}

 private:
  void take(std::span<const std::string> documents) {
    const std::weak_ptr alive = alive_;
    const auto shows = on_.shows;
    for (const std::string& one : documents) {
      if (!alive.expired()) shows(one);
    }
  }

  kube::stream_handlers on_;
  std::shared_ptr<stores::sent_secrets> sent_;
  stores::kubernetes::document_stream stream_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

class pod_cluster_api final : public kube::api_server {
 public:
  pod_cluster_api(base::event_loop& on, const http::http_connector& connect,
                  const std::vector<settings::endpoint>& servers, const settings::security& with)
      // What each request needs is for its caller to say.
      : cluster_(on, connect, servers, with, most_calls, {}, sent_, /*if_denied=*/{}) {}

  void call(kube::api_request what, core::time_point deadline, handler done) override {
    cluster_.call({.method = std::move(what.method),
                   .path = std::move(what.path),
                   .query = std::move(what.query),
                   .body = std::move(what.body),
                   .content_type = std::move(what.content_type)},
                  deadline, [done = std::move(done), sent = sent_](reply_or_failure reply) mutable {
                    done(reply_of(std::move(reply), *sent));
                  });
  }

  std::unique_ptr<kube::api_stream> follow(kube::api_request what, core::time_point deadline,
                                           kube::stream_handlers on) override {
    return std::make_unique<pod_cluster_stream>(
        cluster_,
        stores::kubernetes::request{.method = std::move(what.method),
                                    .path = std::move(what.path),
                                    .query = std::move(what.query)},
        deadline, std::move(on), sent_);
  }

  void close() override { cluster_.close(); }

 private:
  std::shared_ptr<stores::sent_secrets> sent_ = std::make_shared<stores::sent_secrets>();
  cluster cluster_;
};

}  // namespace

std::expected<std::unique_ptr<kube::api_server>, std::string> make_kubernetes_api(
    base::event_loop& on, const http::http_connector& connect, const settings::pod_cluster& to) {
  return make_kubernetes_api(
      on, connect, {to.endpoint},
      settings::security{.ca_file = to.ca_file, .token_file = to.token_file});
}

std::expected<std::unique_ptr<kube::api_server>, std::string> make_kubernetes_api(
    base::event_loop& on, const http::http_connector& connect, const std::vector<std::string>& to,
    const settings::security& with) {
  std::vector<settings::endpoint> servers;
  for (const std::string& url : to) {
    auto server = settings::parse_endpoint(url, https_port);
    if (!server) return std::unexpected("the API server " + settings::text(server.error()));
    servers.push_back(std::move(*server));
  }
  return std::make_unique<pod_cluster_api>(on, connect, servers, with);
}

}  // namespace tenure::runtime
