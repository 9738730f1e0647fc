#include "places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "harness.hpp"
#include "servers/consul_server.hpp"
#include "servers/etcd_server.hpp"
#include "servers/kubernetes_server.hpp"

namespace tenure::tests {
namespace {

std::vector<place> places_of(const std::string& kind,
                             const std::vector<servers::server_release>& releases) {
  std::vector<place> out;
  for (const servers::server_release& r : releases) {
    out.push_back({.name = kind + "_" + r.name, .kind = kind, .server = r});
  }
  return out;
}

std::vector<place> etcd_places() {
  return places_of("etcd", servers::etcd_releases());
}

/// The latest that is here: each of these tests runs alone and waits for Consul's first leader. The
/// contract, and what ends or hides a server, is asked of every release.
std::vector<place> latest_consul() {
  std::vector<servers::server_release> all = servers::consul_releases();
  while (all.size() > 1 && !all.back().why.empty()) all.pop_back();
  return places_of("consul", {all.back()});
}

std::vector<place> joined(std::vector<place> some, std::vector<place> others) {
  std::ranges::move(others, std::back_inserter(some));
  return some;
}

class sqlite_place final : public placed_store {
 public:
  explicit sqlite_place(const temporary_directory& in) : in_(in) {}

  [[nodiscard]] std::string endpoint() const override { return in_ / "db"; }
  void delete_lock() override {
    const finished done =
        run({"sqlite3", "-cmd", ".timeout 5000", endpoint(), "DELETE FROM lease"}, in_);
    EXPECT_EQ(done.status, 0) << done.err;
  }
  [[nodiscard]] std::string contents() override {
    return run({"sqlite3", endpoint(), ".dump"}, in_).out;
  }

 private:
  const temporary_directory& in_;
};

class etcd_place final : public placed_store {
 public:
  etcd_place(const servers::server_release& release, const temporary_directory& in)
      : etcdctl_(std::filesystem::path(release.binary).replace_filename("etcdctl")),
        in_(in),
        cluster_(release) {}

  [[nodiscard]] std::string endpoint() const override { return cluster_.endpoint(); }
  [[nodiscard]] servers::server_cluster* server() override { return &cluster_; }
  void delete_lock() override {
    const finished done = run({"env", "ETCDCTL_API=3", etcdctl_.string(), "--endpoints", endpoint(),
                               "del", "--prefix", "test/"},
                              in_);
    EXPECT_EQ(done.status, 0) << done.err;
  }
  [[nodiscard]] std::string contents() override {
    return cluster_.post("/v3/kv/range", R"({"key":"AA==","range_end":"AA=="})") +
           cluster_.post("/v3/lease/leases", "{}");
  }

 private:
  std::filesystem::path etcdctl_;
  const temporary_directory& in_;
  servers::etcd_cluster cluster_;
};

class consul_place final : public placed_store {
 public:
  consul_place(const servers::server_release& release, const temporary_directory& in)
      : consul_(release.binary), in_(in), cluster_(release) {}

  [[nodiscard]] std::string endpoint() const override { return cluster_.endpoint(0); }
  [[nodiscard]] servers::server_cluster* server() override { return &cluster_; }
  void delete_lock() override {
    const finished done =
        run({consul_, "kv", "delete", "-http-addr=" + endpoint(), "test/.lock"}, in_);
    EXPECT_EQ(done.status, 0) << done.err;
  }
  [[nodiscard]] std::string contents() override {
    return cluster_.call("GET", "/v1/kv/?recurse&consistent").body +
           cluster_.call("GET", "/v1/session/list?consistent").body;
  }

 private:
  std::string consul_;
  const temporary_directory& in_;
  servers::consul_cluster cluster_;
};

/// A namespace of its own. What programs need to sign in is in their environment.
class kubernetes_place final : public placed_store {
 public:
  explicit kubernetes_place(const servers::server_release& release)
      : server_(servers::shared_kubernetes_server(release)),
        name_space_(server_.add_name_space("place")),
        user_(server_.add_user("member", {.name_space = name_space_}, name_space_)),
        environment_({"TENURE_CA_FILE=" + server_.ca_file(),
                      "TENURE_TOKEN_FILE=" + user_.token_file, "TENURE_NAMESPACE=" + name_space_}) {
  }

  [[nodiscard]] std::string endpoint() const override { return server_.endpoint(0); }
  [[nodiscard]] servers::server_cluster* server() override { return &server_; }
  void delete_lock() override {
    const auto done = server_.call("DELETE", leases() + "/test");
    EXPECT_EQ(done.status, 200) << done.body;
  }
  /// Without the revision of the list, which grows with whatever the server writes.
  [[nodiscard]] std::string contents() override {
    return nlohmann::json::parse(server_.call("GET", leases()).body).at("items").dump();
  }

 private:
  [[nodiscard]] std::string leases() const {
    return "/apis/coordination.k8s.io/v1/namespaces/" + name_space_ + "/leases";
  }

  servers::kubernetes_server& server_;
  std::string name_space_;
  servers::kubernetes_user user_;
  shared_environment environment_;
};

}  // namespace

std::vector<place> server_places() {
  return joined(etcd_places(), places_of("consul", servers::consul_releases()));
}

std::vector<place> places() {
  std::vector<place> out{{.name = "sqlite", .kind = "sqlite"}};
  out = joined(std::move(out), etcd_places());
  out = joined(std::move(out), latest_consul());
  return joined(std::move(out), places_of("kubernetes", servers::kubernetes_releases()));
}

std::unique_ptr<placed_store> make_placed_store(const place& which, const temporary_directory& in) {
  if (which.kind == "etcd") return std::make_unique<etcd_place>(*which.server, in);
  if (which.kind == "consul") return std::make_unique<consul_place>(*which.server, in);
  if (which.kind == "kubernetes") return std::make_unique<kubernetes_place>(*which.server);
  return std::make_unique<sqlite_place>(in);
}

}  // namespace tenure::tests
