#include "facts/asker.hpp"

#include <cstdlib>
#include <memory>
#include <sstream>
#include <utility>

#include "consul/modelled_consul.hpp"
#include "etcd/modelled_etcd.hpp"
#include "judge.hpp"
#include "kubernetes/modelled_kubernetes.hpp"
#include "servers/consul_server.hpp"
#include "servers/etcd_server.hpp"
#include "servers/kubernetes_server.hpp"
#include "servers/plain_http.hpp"
#include "world.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;

/// Nobody listens to what really happens.
class no_witness final : public shell::store_witness {
 public:
  no_witness(const shell::world&, bool /*traced*/) {}
  void created(const std::string&, std::uint64_t, std::int64_t, const std::string&) override {}
  void erased(const std::string&, std::uint64_t, shell::erased_by) override {}
  void restored(const std::vector<shell::restored_key>&, std::uint64_t) override {}
};

template <class Model, class Witness, class... Which>
struct scene {
  explicit scene(Which... more) : servers(in, nobody, more...) {}
  shell::world in{1};
  Witness nobody{in, false};
  Model servers;
};

bool is_watch(const std::string& target) {
  return target.contains("watch=true");
}

/// The events of a watch, as one document.
std::string events_in(const std::string& body) {
  std::istringstream lines(body);
  std::string out;
  for (std::string one; std::getline(lines, one);) out += (out.empty() ? "" : ",") + one;
  return "[" + out + "]";
}

/// What a watch shows until the server ends it.
answer watched(shell::world& in, shell::modelled_cluster& servers, const std::string& target) {
  answer out;
  bool is_over = false;
  const auto one = servers.make_stream();
  one->head = [&](const http::reply_head& head) { out.status = static_cast<int>(head.status); };
  one->data = [&](const std::string& text) { out.body += text; };
  one->end = [&] { is_over = one->closed = true; };
  one->reset = one->end;
  servers.open(0, one, {.method = "GET", .target = target});
  for (int i = 0; i < 1000 && !is_over; ++i) in.run_until(in.now + 10ms);
  one->closed = true;
  out.body = events_in(out.body);
  return out;
}

template <class Model, class Witness = no_witness, class... Which>
asker model(Which... which) {
  const auto of = std::make_shared<scene<Model, Witness, Which...>>(which...);
  of->in.run_until(of->in.now + 10s);  // they have a leader then
  return [of](const std::string& method, const std::string& target, const std::string& body) {
    if (is_watch(target)) return watched(of->in, of->servers, target);
    const auto out = std::make_shared<answer>();
    of->servers.handle(0, {.method = method, .target = target, .body = body},
                       [out](std::expected<http::client_reply, http::client_error> said) {
                         if (!said) return;
                         *out = {.status = static_cast<int>(said->status),
                                 .body = said->body,
                                 .headers = said->headers};
                       });
    // No longer: sessions and leases run out.
    for (int i = 0; i < 1000 && out->status == 0; ++i) of->in.run_until(of->in.now + 10ms);
    return *out;
  };
}

std::vector<http::header> headers_of(const std::string& reply) {
  std::vector<http::header> out;
  std::istringstream head(reply.substr(0, reply.find("\r\n\r\n")));
  std::string line;
  std::getline(head, line);  // the status
  while (std::getline(head, line)) {
    if (line.ends_with('\r')) line.pop_back();
    const auto colon = line.find(": ");
    if (colon != std::string::npos) {
      out.push_back({.name = line.substr(0, colon), .value = line.substr(colon + 2)});
    }
  }
  return out;
}

answer ask(std::uint16_t port, const std::string& method, const std::string& target,
           const std::string& body) {
  servers::plain_http one(port, method, target, body);
  const std::string all = one.read_until("\r\n0\r\n\r\n", 1, 20s);
  const auto blank = all.find(' ');
  if (blank == std::string::npos) return {};
  return {.status = std::atoi(all.c_str() + blank + 1),
          .body = servers::body_of(all),
          .headers = headers_of(all)};
}

template <class Cluster>
asker server(const servers::server_release& release) {
  const auto of = std::make_shared<Cluster>(release);
  return [of](const std::string& method, const std::string& target, const std::string& body) {
    return ask(of->port(), method, target, body);
  };
}

asker kubernetes_server(const servers::server_release& release) {
  const auto of = std::make_shared<servers::kubernetes_server>(release);
  return [of](const std::string& method, const std::string& target, const std::string& body) {
    const servers::secure_answer said =
        of->call(method, target, body,
                 method == "PATCH" ? servers::json_patch : servers::kubernetes_request{});
    return answer{.status = said.status,
                  .body = is_watch(target) ? events_in(said.body) : said.body};
  };
}

}  // namespace

asker ask_model(const std::string& store, bool is_old) {
  if (store == "consul") return model<shell::modelled_consul>();
  if (store == "kubernetes") return model<shell::modelled_kubernetes, shell::judge>();
  return model<shell::modelled_etcd>(is_old ? shell::etcd_release::of_3_4
                                            : shell::etcd_release::of_3_6);
}

asker ask_server(const std::string& store, const servers::server_release& release) {
  if (store == "consul") return server<servers::consul_cluster>(release);
  if (store == "kubernetes") return kubernetes_server(release);
  return server<servers::etcd_cluster>(release);
}

std::vector<servers::server_release> releases_of(const std::string& store) {
  if (store == "consul") return servers::consul_releases();
  if (store == "kubernetes") return servers::kubernetes_releases();
  return servers::etcd_releases();
}

}  // namespace tenure::tests
