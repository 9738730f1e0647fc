#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "scene.hpp"
#include "servers/kubernetes_server.hpp"

namespace tenure::tests {

/// Tests on a real API server that all share, each in a namespace of its own.
class KubernetesCluster : public testing::Test {
 protected:
  void SetUp() override {
    const servers::server_release release = servers::kubernetes_releases().front();
    if (!release.why.empty()) GTEST_SKIP() << release.why;
    server_ = &servers::shared_kubernetes_server(release);
    name_space_ = server_->add_name_space("cluster");
    user_ = server_->add_user("member", {.name_space = name_space_}, name_space_);
  }

  [[nodiscard]] stores::setup settings(const std::string& identity,
                                       core::duration ttl = std::chrono::seconds(60),
                                       std::uint32_t slots = 1) const {
    stores::setup made = settings_for("kubernetes", server_->endpoint(), identity, ttl, slots);
    made.secure.ca_file = server_->ca_file();
    made.secure.token_file = user_.token_file;
    made.name_space = name_space_;
    return made;
  }

  /// An agent that has opened the store.
  std::unique_ptr<member> join(const stores::setup& with) {
    auto made = std::make_unique<member>(loop_, with);
    const auto opened = made->open();
    EXPECT_TRUE(opened) << opened.error().text;
    return made;
  }

  [[nodiscard]] std::string path_of_leases() const {
    return "/apis/coordination.k8s.io/v1/namespaces/" + name_space_ + "/leases";
  }
  [[nodiscard]] nlohmann::json lease(const std::string& name) const {
    return nlohmann::json::parse(server_->call("GET", path_of_leases() + "/" + name).body);
  }

  servers::kubernetes_server* server_ = nullptr;
  std::string name_space_;
  servers::kubernetes_user user_;
  loop loop_;
};

}  // namespace tenure::tests
