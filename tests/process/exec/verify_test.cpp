#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <thread>

#include "harness.hpp"
#include "places.hpp"
#include "servers/plain_http.hpp"

/// `verify` as a resource uses it: real agents, real stores, the shipped binary.
namespace tenure::tests {
namespace {

/// Has a slash, which has to be escaped in URLs, where the store takes such names.
std::string election;
std::string election_path;

void choose_election(const place& where) {
  const bool is_lease = where.kind == "kubernetes";
  election = is_lease ? "team.db" : "team/db";
  election_path = is_lease ? "/v1/elections/team.db" : "/v1/elections/team%2Fdb";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The port of its API once logged; else 0.
std::uint16_t port_of(const program& agent) {
  static const std::string mark = "api=127.0.0.1:";
  const std::string log = agent.err();
  const auto at = log.find(mark);
  if (at == std::string::npos || log.find('\n', at) == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::atoi(log.c_str() + at + mark.size()));
}

class Verify : public ::testing::TestWithParam<place> {
 protected:
  void SetUp() override {
    if (!GetParam().missing().empty()) GTEST_SKIP() << GetParam().missing();
    choose_election(GetParam());
    store_ = make_placed_store(GetParam(), in_);
  }

  std::unique_ptr<program> agent(const std::string& identity, std::vector<std::string> more = {}) {
    std::vector<std::string> words{
        tenure_binary(),  "agent",  "--store",    GetParam().kind, "--endpoint", store_->endpoint(),
        "--election",     election, "--identity", identity,        "--listen",   "127.0.0.1:0",
        "--probe-listen", "off"};
    words.insert(words.end(), more.begin(), more.end());
    auto out = std::make_unique<program>(words, in_ / (identity + std::to_string(++started_)));
    EXPECT_TRUE(eventually([&] { return port_of(*out) != 0; })) << out->err();
    return out;
  }

  static std::string get(const program& from, const std::string& path) {
    return servers::ask(port_of(from), "GET", path);
  }

  /// The version above `above` under which `who` shows `holder`; 0 if that never happens.
  static std::uint64_t sees(const program& who, const std::string& holder,
                            std::uint64_t above = 0) {
    const std::string mark = R"("holder":")" + holder + R"(","version":)";
    std::uint64_t version = 0;
    eventually([&] {
      const std::string answer = get(who, election_path);
      const auto at = answer.find(mark);
      if (at == std::string::npos) return false;
      version = std::strtoull(answer.c_str() + at + mark.size(), nullptr, 10);
      return version > above;
    });
    return version > above ? version : 0;
  }

  /// The time left of its lease; 0 without one.
  static long expires_in_ms(const program& holder) {
    static const std::string mark = "\"expires_in_ms\":";
    const std::string answer = get(holder, election_path);
    const auto at = answer.find(mark);
    return at == std::string::npos ? 0 : std::atol(answer.c_str() + at + mark.size());
  }

  finished verify(const program& whom, const std::string& holder, std::uint64_t version,
                  bool fresh) {
    return ask(whom, {"--version", std::to_string(version), "--holder", holder}, fresh);
  }
  finished verify(const program& whom, const std::string& sequencer, bool fresh) {
    return ask(whom, {"--sequencer", sequencer}, fresh);
  }
  finished ask(const program& whom, const std::vector<std::string>& question, bool fresh) {
    std::vector<std::string> words{tenure_binary(), "verify", election, "--api",
                                   "http://127.0.0.1:" + std::to_string(port_of(whom))};
    words.insert(words.end(), question.begin(), question.end());
    if (fresh) words.emplace_back("--fresh");
    return run(words, in_);
  }

  /// What a holder's agent shows of its own term.
  static std::string sequencer_of(const program& holder) {
    static const std::string mark = R"("sequencer":")";
    const std::string answer = get(holder, election_path);
    const auto at = answer.find(mark);
    if (at == std::string::npos) return {};
    const auto begin = at + mark.size();
    return answer.substr(begin, answer.find('"', begin) - begin);
  }

  temporary_directory in_;
  std::unique_ptr<placed_store> store_;
  int started_ = 0;
};

TEST_P(Verify, RequestThatWasDelayedUntilItsHolderHoldsAgainIsRefused) {
  const auto worker = agent("worker", {"--observe"});
  auto a = agent("a", {"--ttl", "3s"});
  const std::uint64_t first = sees(*worker, "a");
  ASSERT_GT(first, 0U) << a->err() << worker->err();
  // Request 1 leaves `a` now, stamped (a, first), and is slow.

  auto b = agent("b", {"--ttl", "3s"});
  a->send(SIGTERM);
  ASSERT_EQ(a->wait(), 0) << a->err();
  const std::uint64_t second = sees(*worker, "b", first);
  ASSERT_GT(second, first) << b->err();
  // Request 2 leaves `b`, arrives and is obeyed.
  for (const bool fresh : {false, true}) {
    EXPECT_EQ(verify(*worker, "b", second, fresh).status, 0) << worker->err();
  }

  a = agent("a", {"--ttl", "3s"});
  b->send(SIGTERM);
  ASSERT_EQ(b->wait(), 0) << b->err();
  const std::uint64_t third = sees(*worker, "a", second);
  ASSERT_GT(third, second) << a->err();
  ASSERT_EQ(sees(*a, "a", second), third) << a->err();
  const std::string proof = sequencer_of(*a);
  ASSERT_FALSE(proof.empty()) << a->err();
  for (const bool fresh : {false, true}) {
    EXPECT_EQ(verify(*worker, proof, fresh).status, 0) << worker->err();
    EXPECT_EQ(verify(*worker, proof + "0", fresh).status, 1);
  }
  // Request 1 arrives: its member holds again, but not under that version.
  for (const program* asked : {worker.get(), a.get()}) {
    for (const bool fresh : {false, true}) {
      const finished late = verify(*asked, "a", first, fresh);
      EXPECT_EQ(late.status, 1) << late.out << late.err;
      EXPECT_TRUE(has(late.out, "not valid (superseded)")) << late.out;
      EXPECT_TRUE(has(late.out, "under version " + std::to_string(third))) << late.out;
      const finished now = verify(*asked, "a", third, fresh);
      EXPECT_EQ(now.status, 0) << now.out << now.err;
      EXPECT_EQ(verify(*asked, "b", third, fresh).status, 1);
    }
  }
}

TEST_P(Verify, ObserverAnswersAndLeavesNothingInTheStore) {
  // So the holder itself writes nothing meanwhile: neither a renewal nor its name in the list.
  const auto a = agent("a", {"--ttl", "10m", "--unlisted"});
  const std::uint64_t version = sees(*a, "a");
  ASSERT_GT(version, 0U) << a->err();
  const std::string before = store_->contents();
  ASSERT_FALSE(before.empty());

  const auto worker = agent("worker", {"--observe"});
  ASSERT_EQ(sees(*worker, "a"), version) << worker->err();
  EXPECT_TRUE(has(get(*worker, election_path), "\"state\":\"observer\""));
  for (const bool fresh : {false, true}) {
    EXPECT_EQ(verify(*worker, "a", version, fresh).status, 0);
    EXPECT_EQ(verify(*worker, "worker", version, fresh).status, 1);
  }
  EXPECT_EQ(store_->contents(), before);
  worker->send(SIGTERM);
  EXPECT_EQ(worker->wait(), 0) << worker->err();
  EXPECT_EQ(store_->contents(), before);
}

TEST_P(Verify, EveryHolderOfSeveralSlotsIsValid) {
  const std::vector<std::string> two{"--slots", "2"};
  const auto a = agent("a", two);
  ASSERT_GT(sees(*a, "a"), 0U) << a->err();
  const auto b = agent("b", two);
  const std::uint64_t of_b = sees(*b, "b");
  ASSERT_GT(of_b, 0U) << b->err();
  const std::uint64_t of_a = sees(*a, "a");
  const auto worker = agent("worker", {"--slots", "2", "--observe"});
  ASSERT_TRUE(eventually([&] {
    const std::string seen = get(*worker, election_path);
    return has(seen, R"("identity":"a")") && has(seen, R"("identity":"b")");
  })) << worker->err();
  for (const bool fresh : {false, true}) {
    EXPECT_EQ(verify(*worker, "a", of_a, fresh).status, 0);
    EXPECT_EQ(verify(*worker, "b", of_b, fresh).status, 0);
    EXPECT_EQ(verify(*worker, "a", of_b, fresh).status, 1);
    EXPECT_EQ(verify(*a, "b", of_b, true).status, 0);
  }
}

TEST_P(Verify, FloodOfFreshReadsDoesNotCostTheLease) {
  const auto a = agent("a", {"--ttl", "3s"});
  const std::uint64_t version = sees(*a, "a");
  ASSERT_GT(version, 0U) << a->err();
  const std::string path = election_path + "/verify?fresh=1&version=" + std::to_string(version);
  const std::uint16_t port = port_of(*a);
  std::atomic<bool> stop = false;
  std::atomic<int> valid = 0;
  std::atomic<int> others = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 24; ++c) {
    clients.emplace_back([&] {
      while (!stop) {
        const std::string answer = servers::ask(port, "GET", path);
        if (has(answer, "HTTP/1.1 200")) {
          ++valid;
        } else if (!answer.empty() && !has(answer, "\"code\":\"too_many_reads\"")) {
          ++others;
        }
      }
    });
  }
  // The time left of a lease grows only at a renewal.
  int renewals = 0;
  long left = 0;
  EXPECT_TRUE(eventually([&] {
    const long now = expires_in_ms(*a);
    renewals += now > left && left > 0 ? 1 : 0;
    left = now;
    return renewals >= 3;
  })) << a->err();
  stop = true;
  for (std::thread& c : clients) c.join();
  EXPECT_GT(valid, 0);
  EXPECT_EQ(others, 0);
  EXPECT_EQ(verify(*a, "a", version, false).status, 0) << a->err();
}

/// For stores that can go away; SQLite's file exists as long as its members do.
class VerifyByServer : public Verify {};

INSTANTIATE_TEST_SUITE_P(On, VerifyByServer, ::testing::ValuesIn(server_places()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(VerifyByServer, ThatIsGoneMakesNeitherAYesNorANo) {
  const auto a = agent("a", {"--ttl", "10m"});
  const std::uint64_t version = sees(*a, "a");
  ASSERT_GT(version, 0U) << a->err();
  const auto worker = agent("worker", {"--observe"});
  ASSERT_EQ(sees(*worker, "a"), version) << worker->err();
  store_->server()->kill(0);
  finished cached;
  EXPECT_TRUE(eventually([&] {
    cached = verify(*worker, "a", version, false);
    return cached.status != 0;
  }));
  EXPECT_EQ(cached.status, 4) << cached.out << cached.err;
  EXPECT_TRUE(has(cached.err, "the store does not answer: ")) << cached.err;
  const finished fresh = verify(*worker, "a", version, true);
  EXPECT_EQ(fresh.status, 4) << fresh.out << fresh.err;
  EXPECT_EQ(verify(*a, "a", version, false).status, 0) << "its own lease is not over";
}

TEST_P(VerifyByServer, ThatIsNoAgentIsNotBelieved) {
  const finished r = run(
      {tenure_binary(), "verify", election, "--api", store_->endpoint(), "--version", "1"}, in_);
  EXPECT_EQ(r.status, 4) << r.out << r.err;
  EXPECT_TRUE(has(r.err, "not an agent's answer")) << r.err;
}

INSTANTIATE_TEST_SUITE_P(On, Verify, ::testing::ValuesIn(places()),
                         [](const auto& instance) { return instance.param.name; });

TEST(VerifyInAWorkload, ChecksItsOwnTermByDefaultAndNothingElseByMistake) {
  const temporary_directory in;
  const std::string tenure = tenure_binary();
  const std::string script = tenure + " verify; echo own=$?; " + tenure +
                             " verify --sequencer \"$TENURE_SEQUENCER\"; echo proof=$?; " + tenure +
                             " verify --sequencer x; echo wrong=$?; " +          //
                             tenure + " verify --fresh; echo fresh=$?; " +       //
                             tenure + " verify --output json; " +                //
                             tenure + " verify --holder b; echo b=$?; " +        //
                             tenure + " verify --version 1; echo one=$?; " +     //
                             tenure + " verify --version 99; echo newer=$?; " +  //
                             tenure + " verify --version 99 --fresh; echo never=$?; " + tenure +
                             " verify other; echo other=$?; " + tenure +
                             " verify other --version 1; echo unknown=$?; " + tenure +
                             " verify --version x; echo word=$?";
  member a(in, {.command = {"sh", "-c", script}});
  ASSERT_EQ(a.process().wait(), 0) << a.process().err();
  const std::string out = a.process().out();
  for (const char* line : {"own=0\n", "proof=0\n", "wrong=1\n", "fresh=0\n", "b=1\n", "one=0\n",
                           "newer=1\n", "never=1\n", "other=2\n", "unknown=2\n", "word=2\n"}) {
    EXPECT_TRUE(has(out, line)) << line << out << a.process().err();
  }
  EXPECT_TRUE(has(out, R"({"valid":true,"election":"test","asked":{"version":1,)")) << out;
  EXPECT_TRUE(has(out, R"("source":"lease")")) << out;
}

TEST(VerifyCommand, SaysSoIfThereIsNoAgentOrNoQuestion) {
  const temporary_directory in;
  const std::string nobody = "http://127.0.0.1:" + std::to_string(servers::free_port());
  const finished silent =
      run({tenure_binary(), "verify", "db", "--version", "7", "--output", "json"}, in,
          {"TENURE_API=" + nobody});
  EXPECT_EQ(silent.status, 5) << silent.err;
  EXPECT_TRUE(has(silent.out, R"({"error":{"code":"no_reply",)")) << silent.out;
  EXPECT_TRUE(has(silent.err, nobody)) << silent.err;
  EXPECT_EQ(run({tenure_binary(), "verify"}, in).status, 2);
  EXPECT_EQ(run({tenure_binary(), "verify", "db"}, in).status, 2);
  EXPECT_EQ(run({tenure_binary(), "verify", "db", "--version", "7", "--api", "ftp://x"}, in).status,
            2);
  // An agent of several elections gives each workload the name of its own.
  const finished several =
      run({tenure_binary(), "verify", "--version", "7"}, in, {"TENURE_ELECTION=a,b"});
  EXPECT_EQ(several.status, 2);
  EXPECT_TRUE(has(several.err, "which election?")) << several.err;
}

}  // namespace
}  // namespace tenure::tests
