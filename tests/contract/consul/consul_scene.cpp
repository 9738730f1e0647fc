#include "consul_scene.hpp"

#include <utility>

namespace tenure::tests {

servers::consul_cluster& ConsulScene::start(servers::consul_options with) {
  cluster_ = std::make_unique<servers::consul_cluster>(GetParam(), std::move(with));
  return *cluster_;
}

std::unique_ptr<member> ConsulScene::join(const stores::setup& with) {
  auto made = std::make_unique<member>(loop_, with);
  const auto opened = made->open();
  EXPECT_TRUE(opened) << opened.error().text;
  return made;
}

std::optional<stores::consul::key_value> ConsulScene::lock() const {
  const auto shown = cluster_->call("GET", "/v1/kv/db0/.lock?consistent");
  if (shown.status != 200) return std::nullopt;
  auto keys = stores::consul::parse_keys(shown.body);
  EXPECT_TRUE(keys) << keys.error().why;
  return keys->front();
}

std::string ConsulScene::holder() const {
  const auto key = lock();
  return key ? key->session : "";
}

std::string ConsulScene::put(const std::string& path, const std::string& body) const {
  const auto done = cluster_->call("PUT", path, body);
  EXPECT_EQ(done.status, 200) << path << done.body;
  return done.body;
}

void ConsulScene::register_node_check(const std::string& id) const {
  put("/v1/agent/check/register",
      R"({"Name":")" + id + R"(","ID":")" + id + R"(","TTL":"1h","Status":"passing"})");
}

void ConsulScene::register_service_check(const std::string& id) const {
  put("/v1/agent/service/register", R"({"Name":"web","ID":"web","Check":{"CheckID":")" + id +
                                        R"(","TTL":"1h","Status":"passing"}})");
}

std::string session_of(const stores::grant& what) {
  return what.sequencer.substr(what.sequencer.rfind('@') + 1);
}

}  // namespace tenure::tests
