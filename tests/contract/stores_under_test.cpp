#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/base64.hpp"
#include "servers/consul_server.hpp"
#include "servers/etcd_server.hpp"
#include "servers/kubernetes_server.hpp"
#include "store_under_test.hpp"
#include "stores/etcd/codec.hpp"

namespace tenure::tests {
namespace {

/// The servers that the tests of one process share, each started for the first that needs it.
template <class Cluster>
class shared_servers final : public testing::Environment {
 public:
  void TearDown() override {
    for (const auto& [name, one] : all_) {
      if (testing::UnitTest::GetInstance()->Failed()) std::cerr << one->log_tail(0);
    }
    all_.clear();
  }

  Cluster& of(const servers::server_release& release) {
    auto& found = all_[release.name];
    if (!found) found = std::make_unique<Cluster>(release);
    return *found;
  }

 private:
  std::map<std::string, std::unique_ptr<Cluster>> all_;
};

/// GoogleTest owns it.
template <class Cluster>
shared_servers<Cluster>* add_shared() {
  auto made = std::make_unique<shared_servers<Cluster>>();
  shared_servers<Cluster>* const out = made.get();
  testing::AddGlobalTestEnvironment(made.release());
  return out;
}

auto* const shared_etcd = add_shared<servers::etcd_cluster>();
auto* const shared_consul = add_shared<servers::consul_cluster>();

class sqlite_under_test final : public store_under_test {
 public:
  [[nodiscard]] std::string kind() const override { return "sqlite"; }
  [[nodiscard]] std::string endpoint() const override { return directory_ / "leases.db"; }

  void delete_lock(const std::string& election) override {
    child shell(
        {FOREIGN_PROGRAM, endpoint(), "DELETE FROM lease WHERE election = '" + election + "'"});
    EXPECT_EQ(shell.wait(), 0);
  }

 private:
  temporary_directory directory_;
};

class etcd_under_test final : public store_under_test {
 public:
  /// Empties it.
  explicit etcd_under_test(const servers::server_release& release)
      : cluster_(shared_etcd->of(release)) {
    cluster_.post("/v3/kv/deleterange", R"({"key":"AA==","range_end":"AA=="})");
  }

  [[nodiscard]] std::string kind() const override { return "etcd"; }
  [[nodiscard]] std::string endpoint() const override { return cluster_.endpoint(); }
  [[nodiscard]] core::duration shortest_ttl() const override { return std::chrono::seconds(2); }

  void delete_lock(const std::string& election) override {
    using namespace stores::etcd;
    const std::string prefix = base::to_base64(election + "/");
    const std::string end = base::to_base64(prefix_end(election + "/"));
    cluster_.post("/v3/kv/deleterange",
                  R"({"key":")" + prefix + R"(","range_end":")" + end + R"("})");
  }

 private:
  servers::etcd_cluster& cluster_;
};

class consul_under_test final : public store_under_test {
 public:
  /// Empties it. The keys go first: a session that ends keeps the lock-delay of those that it
  /// holds.
  explicit consul_under_test(const servers::server_release& release)
      : cluster_(shared_consul->of(release)) {
    cluster_.call("DELETE", "/v1/kv/?recurse");
    for (const auto& one : nlohmann::json::parse(cluster_.call("GET", "/v1/session/list").body)) {
      cluster_.call("PUT", "/v1/session/destroy/" + one.at("ID").get<std::string>());
    }
  }

  [[nodiscard]] std::string kind() const override { return "consul"; }
  [[nodiscard]] std::string endpoint() const override { return cluster_.endpoint(0); }

  void delete_lock(const std::string& election) override {
    const auto done = cluster_.call("DELETE", "/v1/kv/" + election + "/.lock");
    EXPECT_EQ(done.status, 200) << done.body;
  }

 private:
  servers::consul_cluster& cluster_;
};

/// One namespace of a server that all tests share.
class kubernetes_under_test final : public store_under_test {
 public:
  explicit kubernetes_under_test(const servers::server_release& release)
      : server_(servers::shared_kubernetes_server(release)),
        name_space_(server_.add_name_space("contract")) {
    user_ = server_.add_user("member", {.name_space = name_space_}, name_space_);
  }

  [[nodiscard]] std::string kind() const override { return "kubernetes"; }
  [[nodiscard]] std::string endpoint() const override { return server_.endpoint(0); }

  void give_access(stores::setup& to) const override {
    to.secure.ca_file = server_.ca_file();
    to.secure.token_file = user_.token_file;
    to.name_space = name_space_;
  }

  void delete_lock(const std::string& election) override {
    const auto done = server_.call(
        "DELETE", "/apis/coordination.k8s.io/v1/namespaces/" + name_space_ + "/leases/" + election);
    EXPECT_EQ(done.status, 200) << done.body;
  }

 private:
  servers::kubernetes_server& server_;
  std::string name_space_;
  servers::kubernetes_user user_;
};

template <class Store>
std::unique_ptr<store_under_test> make() {
  return std::make_unique<Store>();
}

store_factory sqlite() {
  return {.name = "sqlite", .make = make<sqlite_under_test>, .missing = {}};
}

}  // namespace

std::vector<store_factory> all_stores() {
  std::vector<store_factory> out{sqlite()};
  for (const servers::server_release& release : servers::etcd_releases()) {
    out.push_back({.name = "etcd_" + release.name,
                   .make = [release] { return std::make_unique<etcd_under_test>(release); },
                   .missing = release.why});
  }
  for (const servers::server_release& release : servers::consul_releases()) {
    out.push_back({.name = "consul_" + release.name,
                   .make = [release] { return std::make_unique<consul_under_test>(release); },
                   .missing = release.why});
  }
  for (const servers::server_release& release : servers::kubernetes_releases()) {
    out.push_back({.name = "kubernetes_" + release.name,
                   .make = [release] { return std::make_unique<kubernetes_under_test>(release); },
                   .missing = release.why});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::ValuesIn(all_stores()),
                         [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(Stores, StoreOfOurVersions, testing::Values(sqlite()),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::tests
