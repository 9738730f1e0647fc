// What the agent takes for granted of a store, asked of the real servers and of the models that the
// simulators have in their place: a model that answers otherwise proves something about no store.
#include "facts/facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "facts/asker.hpp"

namespace tenure::tests {
namespace {

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
  std::vector<subject> out{{"etcd", "model_of_3_4", [] { return ask_model("etcd", true); }}};
  for (const std::string store : {"etcd", "consul", "kubernetes"}) {
    out.push_back({store, "model", [store] { return ask_model(store); }});
    for (const auto& release : releases_of(store)) {
      out.push_back({store, release.name, [=] { return ask_server(store, release); },
                     release.binary.empty() ? release.why : ""});
    }
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
