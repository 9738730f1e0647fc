// What the agent takes for granted of a store, asked of the real servers and of the models that the
// simulators have in their place: a model that answers otherwise proves something about no store.
#include "facts/facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

struct answer {
  int status = 0;  ///< 0: none
  std::string body{};
};
using asker = std::function<answer(const std::string& method, const std::string& target,
                                   const std::string& body)>;

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

template <class Model, class Witness = no_witness, class... Which>
asker model(Which... which) {
  const auto of = std::make_shared<scene<Model, Witness, Which...>>(which...);
  of->in.run_until(of->in.now + 10s);  // they have a leader then
  return [of](const std::string& method, const std::string& target, const std::string& body) {
    const auto out = std::make_shared<answer>();
    of->servers.handle(0, {.method = method, .target = target, .body = body},
                       [out](std::expected<http::client_reply, http::client_error> said) {
                         if (said)
                           *out = {.status = static_cast<int>(said->status), .body = said->body};
                       });
    // No longer: sessions and leases run out.
    for (int i = 0; i < 1000 && out->status == 0; ++i) of->in.run_until(of->in.now + 10ms);
    return *out;
  };
}

answer ask(std::uint16_t port, const std::string& method, const std::string& target,
           const std::string& body) {
  servers::plain_http one(port, method, target, body);
  const std::string all = one.read_until("\r\n0\r\n\r\n", 1, 20s);
  const auto blank = all.find(' ');
  if (blank == std::string::npos) return {};
  return {.status = std::atoi(all.c_str() + blank + 1), .body = servers::body_of(all)};
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
    return answer{.status = said.status, .body = said.body};
  };
}

struct subject {
  std::string store;
  std::string name;
  std::function<asker()> make;
  std::string missing{};  ///< why it cannot be asked
};
std::ostream& operator<<(std::ostream& out, const subject& one) {
  return out << one.store << "/" << one.name;
}

std::vector<subject> subjects() {
  std::vector<subject> out{
      {"etcd", "model_of_3_4",
       [] { return model<shell::modelled_etcd>(shell::etcd_release::of_3_4); }},
      {"etcd", "model", [] { return model<shell::modelled_etcd>(shell::etcd_release::of_3_6); }},
      {"consul", "model", [] { return model<shell::modelled_consul>(); }},
      {"kubernetes", "model", [] { return model<shell::modelled_kubernetes, shell::judge>(); }}};
  for (const auto& release : servers::etcd_releases()) {
    out.push_back({"etcd", release.name,
                   [release] { return server<servers::etcd_cluster>(release); },
                   release.binary.empty() ? release.why : ""});
  }
  for (const auto& release : servers::consul_releases()) {
    out.push_back({"consul", release.name,
                   [release] { return server<servers::consul_cluster>(release); },
                   release.binary.empty() ? release.why : ""});
  }
  for (const auto& release : servers::kubernetes_releases()) {
    out.push_back({"kubernetes", release.name, [release] { return kubernetes_server(release); },
                   release.binary.empty() ? release.why : ""});
  }
  return out;
}

class Facts : public testing::TestWithParam<subject> {};

TEST_P(Facts, Hold) {
  const subject& one = GetParam();
  if (!one.missing.empty()) GTEST_SKIP() << one.missing;
  const std::string file = std::string(FACTS_FOLDER "/") + one.store + ".txt";
  const asker asks = one.make();
  std::size_t number = 0;
  for (const fact& f : facts_in(file)) {
    // The names of Kubernetes have no slashes.
    const std::string place = "facts/" + std::to_string(++number) + "/";
    fact_run run(one.store == "kubernetes" ? "facts-" + std::to_string(number) + "-" : place);
    for (const fact_call& call : f.calls) {
      const answer said = asks(call.method, run.sent(call.target), run.sent(call.body));
      const std::string wrong = run.differs(call.answer, said.body);
      if (std::ranges::find(call.status, said.status) != call.status.end() && wrong.empty())
        continue;
      ADD_FAILURE() << file << ":" << call.line << ": " << f.title << "\n"
                    << run.sent(call.body) << "\nwas answered " << said.status << " " << said.body
                    << "\n"
                    << wrong;
      break;
    }
  }
  EXPECT_GT(number, 0U);
}

INSTANTIATE_TEST_SUITE_P(Of, Facts, testing::ValuesIn(subjects()),
                         [](const auto& one) { return one.param.store + "_" + one.param.name; });

// --- how they are read
// ----------------------------------------------------------------------------

TEST(Fact, DiffersWhereTheAnswerDoes) {
  fact_run run("here/");
  EXPECT_EQ(run.differs(R"({"a":1,"b":null,"c":false,"d":"*","e":"64:<x>"})",
                        R"({"a":1,"d":[],"e":"aGVyZS94","f":2})"),
            "");
  EXPECT_NE(run.differs(R"({"a":1})", R"({"a":2})"), "");
  EXPECT_NE(run.differs(R"({"a":1})", "{}"), "");
  EXPECT_NE(run.differs(R"({"a":null})", R"({"a":2})"), "");
  EXPECT_NE(run.differs(R"({"a":false})", R"({"a":true})"), "");
  EXPECT_NE(run.differs("[1]", "[1,2]"), "");
  EXPECT_NE(run.differs("[1]", "none"), "");
}

TEST(Fact, WhatAnAnswerHasBoundStandsInTheNextCall) {
  fact_run run("here/");
  EXPECT_EQ(run.differs(R"({"a":"$x","b":"$x"})", R"({"a":"7","b":"7"})"), "");
  EXPECT_NE(run.differs(R"({"a":"$x"})", R"({"a":"8"})"), "");
  EXPECT_EQ(run.sent("/v1/{x}/<k>"), "/v1/7/here/k");
  EXPECT_EQ(run.sent(R"({"n":{x},"k":"64:<x>"})"), R"({"k":"aGVyZS94","n":7})");
}

}  // namespace
}  // namespace tenure::tests
