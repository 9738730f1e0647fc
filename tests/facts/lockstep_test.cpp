// What the agent's own client of a store asks, in the order in which it asks it, is asked of a real
// server and of the model of it: the model has to answer as the server does. Watches are left out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/base64.hpp"
#include "facts/asker.hpp"
#include "http/client/http_client.hpp"
#include "stores/consul/consul_store.hpp"
#include "stores/etcd/etcd_store.hpp"
#include "stores/kubernetes/kubernetes_store.hpp"
#include "support/hand_loop.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// What a server chooses: another one, or its model, chooses something else, and means it wherever
/// it says it again.
const std::set<std::string> chosen{"ID",          "Session",   "uid",   "ModifyIndex",
                                   "CreateIndex", "LockIndex", "Index", "resourceVersion"};
/// What no agent goes by, or what is of the machine.
const std::set<std::string> of_no_meaning{
    "cluster_id", "member_id",         "raft_term",  "message",     "error",
    "Node",       "creationTimestamp", "etcdserver", "etcdcluster", "Version"};

/// Both servers, which are asked the same, one after the other.
class lockstep {
 public:
  lockstep(asker real, asker model) : real_(std::move(real)), model_(std::move(model)) {}

  answer ask(const std::string& method, const std::string& target, const std::string& body) {
    ++asked_;
    answer said = real_(method, target, body);
    const answer modelled = model_(method, meant_target(target), meant_body(body));
    const std::string of = method + " " + target + " " + body;
    // The version of a list is that of the whole store, which others write to; what is only tried
    // is numbered like what comes next.
    passing_ = target.contains("dryRun")      ? "the answer.metadata.uid"
               : target.contains("Selector=") ? "the answer.metadata.resourceVersion"
                                              : "";
    if (said.status != modelled.status) {
      differences_.push_back(of + "\n  status " + std::to_string(modelled.status) +
                             " of the model (" + modelled.body + "), not " +
                             std::to_string(said.status) + " (" + said.body + ")");
      return said;
    }
    const json by_server = json::parse(said.body, nullptr, false);
    const json by_model = json::parse(modelled.body, nullptr, false);
    if (by_server.is_discarded() || by_model.is_discarded()) {
      if (by_server.is_discarded() != by_model.is_discarded() && said.status < 300)
        differences_.push_back(of + "\n  " + modelled.body + " of the model, not " + said.body);
    } else if (std::string why = compare(by_server, by_model, "", "the answer"); !why.empty()) {
      differences_.push_back(of + "\n" + why);
    }
    for (const http::header& one : said.headers) {
      if (one.name != "X-Consul-Index") continue;
      const auto same = std::ranges::find(modelled.headers, one.name, &http::header::name);
      if (same == modelled.headers.end()) differences_.push_back(of + "\n  no " + one.name);
    }
    return said;
  }

  [[nodiscard]] std::size_t asked() const { return asked_; }
  [[nodiscard]] const std::vector<std::string>& differences() const { return differences_; }

 private:
  static std::string text_of(const json& one) {
    return one.is_string() ? one.get<std::string>() : one.dump();
  }
  static bool is_long(const std::string& text) { return text.size() >= 16; }

  /// Empty, or how the model's answer differs. It need not say all that the server says.
  std::string compare(const json& real, const json& model, const std::string& name,
                      const std::string& where) {
    if (model.is_object() && real.is_object()) {
      std::string out;
      for (const auto& [key, one] : model.items()) {
        if (of_no_meaning.contains(key)) continue;
        out += real.contains(key)
                   ? compare(real.at(key), one, key, where + "." + key)
                   : "  " + where + "." + key + " is " + one.dump() + " of the model alone\n";
      }
      return out;
    }
    if (model.is_array() && real.is_array() && model.size() == real.size()) {
      std::string out;
      const json ordered = in_order(real);
      for (std::size_t i = 0; i < model.size(); ++i)
        out += compare(ordered[i], model[i], name, where + "[" + std::to_string(i) + "]");
      return out;
    }
    if (!model.is_structured() && !real.is_structured()) {
      const std::string said = text_of(real);
      const std::string modelled = text_of(model);
      const bool is_same = chosen.contains(name) ? is_bound(said, modelled, where == passing_)
                                                 : meant(said) == modelled;
      if (is_same) return "";
    }
    return "  " + where + " is " + model.dump() + " of the model, not " + real.dump() + "\n";
  }

  /// Keys of Consul have names of sessions, so the model has others before.
  [[nodiscard]] json in_order(json of) const {
    const auto key = [this](const json& one) { return meant(one.at("Key").get<std::string>()); };
    const bool has_keys = std::ranges::all_of(
        of, [](const json& one) { return one.is_object() && one.contains("Key"); });
    if (has_keys) {
      std::sort(of.begin(), of.end(),
                [&](const json& a, const json& b) { return key(a) < key(b); });
    }
    return of;
  }

  /// One means the other, wherever it was said before; and nothing else does, if it is not said in
  /// passing.
  bool is_bound(const std::string& real, const std::string& model, bool in_passing) {
    auto& of = is_long(real) ? words_ : numbers_;
    const bool is_its = of.emplace(real, model).first->second == model;
    return is_its && (in_passing || meant_by_.emplace(model, real).first->second == real);
  }

  /// With what the model calls what the server has chosen.
  [[nodiscard]] std::string meant(std::string text) const {
    for (const auto& [real, model] : words_) {
      for (std::size_t at = 0; (at = text.find(real, at)) != std::string::npos; at += model.size())
        text.replace(at, real.size(), model);
    }
    return text;
  }

  [[nodiscard]] std::string meant_number(const std::string& text) const {
    const auto found = numbers_.find(text);
    return found == numbers_.end() ? meant(text) : found->second;
  }

  [[nodiscard]] std::string meant_target(const std::string& target) const {
    std::string out = meant(target);
    for (const std::string name : {"cas=", "index=", "resourceVersion="}) {
      const auto at = out.find(name);
      if (at == std::string::npos) continue;
      const auto from = at + name.size();
      const auto until = std::min(out.find('&', from), out.size());
      out.replace(from, until - from, meant_number(out.substr(from, until - from)));
    }
    return out;
  }

  [[nodiscard]] std::string meant_body(const std::string& body) const {
    json all = json::parse(body, nullptr, false);
    if (all.is_discarded() || !all.is_structured()) return meant(body);
    translate(all, "");
    return all.dump();
  }

  void translate(json& one, const std::string& name) const {
    if (one.is_object()) {
      // A step of a JSON Patch.
      const bool is_version = one.value("path", json()).is_string() &&
                              one.at("path").get<std::string>().ends_with("/resourceVersion");
      for (auto& [key, inner] : one.items())
        translate(inner, is_version && key == "value" ? "resourceVersion" : key);
    } else if (one.is_array()) {
      for (json& inner : one) translate(inner, name);
    } else if (chosen.contains(name)) {
      const std::string model = meant_number(text_of(one));
      one = one.is_string() ? json(model) : json::parse(model, nullptr, false);
    } else if (one.is_string()) {
      one = meant(one.get<std::string>());
    }
  }

  asker real_;
  asker model_;
  std::map<std::string, std::string> words_;     ///< of the server, and what the model calls them
  std::map<std::string, std::string> numbers_;   ///< that are too short to be looked for in texts
  std::map<std::string, std::string> meant_by_;  ///< the same of both, the other way round
  std::string_view passing_;  ///< of the present answer: what is chosen, and meant for the moment
  std::size_t asked_ = 0;
  std::vector<std::string> differences_;
};

class no_stream final : public http::http_stream {
 public:
  void send(std::string_view) override {}
  void pause(core::duration) override {}
};

class lockstep_client final : public http::http_client {
 public:
  lockstep_client(hand_loop& on, lockstep& servers, settings::endpoint to)
      : loop_(on), servers_(servers), to_(std::move(to)) {}

  std::expected<void, std::string> check() override { return {}; }
  void send(http::client_request what, core::time_point, http::reply_handler done) override {
    // What waits for news would wait for ever: nobody else writes.
    if (what.target.contains("wait=")) return fail(std::move(done));
    const answer said = servers_.ask(what.method, what.target, what.body);
    if (said.status == 0) return fail(std::move(done));
    http::client_reply reply;
    reply.status = static_cast<unsigned>(said.status);
    reply.headers = said.headers;
    reply.body = said.body;
    loop_.post([alive = std::weak_ptr(alive_), done = std::move(done),
                reply = std::move(reply)]() mutable {
      if (!alive.expired()) done(std::move(reply));
    });
  }
  void warm_up(core::time_point) override {}
  [[nodiscard]] std::unique_ptr<http::http_stream> stream(http::client_request, core::time_point,
                                                          http::stream_handlers on) override {
    loop_.post([alive = std::weak_ptr(alive_), ended = std::move(on.ended)]() mutable {
      if (!alive.expired() && ended) ended(http::client_error{.text = "no watch here"});
    });
    return std::make_unique<no_stream>();
  }
  void close() override { alive_.reset(); }
  [[nodiscard]] const settings::endpoint& server() const override { return to_; }

 private:
  void fail(http::reply_handler done) {
    loop_.post([alive = std::weak_ptr(alive_), done = std::move(done)]() mutable {
      if (!alive.expired())
        done(std::unexpected(http::client_error{.how = http::sending::not_sent, .text = "no"}));
    });
  }

  hand_loop& loop_;
  lockstep& servers_;
  settings::endpoint to_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// An agent's client of the store, on a loop whose time stands still.
class player {
 public:
  player(hand_loop& on, const std::string& kind, lockstep& servers, const std::string& identity,
         std::uint32_t slots)
      : loop_(on) {
    stores::setup with{.kind = kind,
                       .endpoints = {"http://server:1"},
                       .identity = identity,
                       .session = "tenure-" + identity + "0123456789abcdef",
                       .ttl = 60s,
                       .elections = {{.name = "db", .slots = slots}},
                       .name_space = kind == "kubernetes" ? "default" : "",
                       .wall_ms = [] { return std::int64_t{1'750'000'000'000}; }};
    auto connect = [this, &servers](settings::endpoint to, const http::tls_settings&,
                                    http::client_limits) {
      return std::make_unique<lockstep_client>(loop_, servers, std::move(to));
    };
    auto made = kind == "etcd"     ? stores::make_etcd_store(loop_, connect, std::move(with))
                : kind == "consul" ? stores::make_consul_store(loop_, connect, std::move(with))
                                   : stores::make_kubernetes_store(loop_, connect, std::move(with));
    if (made) store_ = std::move(*made);
    EXPECT_TRUE(made) << made.error().text;
  }
  ~player() {
    if (store_) store_->close();
  }
  player(const player&) = delete;
  player& operator=(const player&) = delete;

  void open() {
    bool is_open = false;
    store_->open([&](const auto& how) { is_open = how.has_value(); });
    loop_.pass(1s);
    EXPECT_TRUE(is_open);
  }
  std::string acquire() {
    return call<stores::acquire_outcome>([this](auto done) {
      store_->acquire(election, core::no_version, deadline(), std::move(done));
    });
  }
  std::string renew() {
    return call<stores::renew_outcome>([this](auto done) {
      store_->renew({{.which = election, .version = version_}}, deadline(), std::move(done));
    });
  }
  std::string release(bool clean, const std::string& heir = {}) {
    return call<stores::release_outcome>([&](auto done) {
      store_->release(election, version_,
                      {.clean = clean, .why = core::loss_reason::resigned, .heir = heir},
                      deadline(), std::move(done));
    });
  }
  std::string read() {
    return call<stores::read_outcome>(
        [this](auto done) { store_->read(election, deadline(), std::move(done)); });
  }
  std::string accept_versions() {
    return call<stores::agree_outcome>(
        [this](auto done) { store_->accept_versions(election, deadline(), std::move(done)); });
  }
  std::string leave_order(const std::string& id) {
    return call<stores::order_outcome>([&](auto done) {
      store_->leave_order(election,
                          {.id = id, .wanted = {.what = core::order_action::resign, .member = "a"}},
                          deadline(), std::move(done));
    });
  }
  std::string drop_order(const std::string& id) {
    return call<stores::order_outcome>(
        [&](auto done) { store_->drop_order(election, id, deadline(), std::move(done)); });
  }

 private:
  static constexpr core::election_index election{0};

  [[nodiscard]] core::time_point deadline() const { return loop_.now() + 20s; }

  template <class Outcome, class Call>
  std::string call(Call call) {
    std::optional<std::string> out;
    call([&](Outcome what) { out = word(what); });
    loop_.pass(1s);
    return out.value_or("no answer");
  }

  std::string word(const stores::acquire_outcome& what) {
    if (const auto* const held = std::get_if<stores::grant>(&what)) {
      version_ = held->version;
      return held->released_cleanly ? "granted cleanly" : "granted";
    }
    return std::holds_alternative<stores::refusal>(what) ? "refused" : why(what);
  }
  static std::string word(const stores::renew_outcome& what) {
    const auto* const done = std::get_if<stores::renewal>(&what);
    if (done == nullptr) return why(what);
    return done->lost.empty() && done->unanswered.empty() ? "renewed" : "lost";
  }
  static std::string word(const stores::release_outcome& what) {
    return std::holds_alternative<stores::released>(what) ? "released" : why(what);
  }
  static std::string word(const stores::read_outcome& what) {
    const auto* const seen = std::get_if<core::observation>(&what);
    if (seen == nullptr) return why(what);
    std::string out;
    for (const core::holder& one : seen->holders) out += one.identity + " ";
    return out;
  }
  static std::string word(const stores::agree_outcome& what) {
    if (std::holds_alternative<core::agreement>(what)) return "agreed";
    return std::holds_alternative<stores::not_agreed>(what) ? "not agreed" : why(what);
  }
  static std::string word(const stores::order_outcome& what) {
    const auto* const done = std::get_if<stores::order_written>(&what);
    return done == nullptr ? why(what) : done->done ? "written" : "not written";
  }
  template <class Outcome>
  static std::string why(const Outcome& what) {
    return "unknown: " + std::get<stores::unknown>(what).why;
  }

  hand_loop& loop_;
  std::unique_ptr<stores::store> store_;
  core::version version_ = core::no_version;
};

struct pair {
  std::string store;
  servers::server_release release;
  bool is_old = false;
};
std::ostream& operator<<(std::ostream& out, const pair& one) {
  return out << one.store << "/" << one.release.name;
}

std::vector<pair> pairs() {
  std::vector<pair> out;
  for (const std::string store : {"etcd", "consul", "kubernetes"}) {
    for (const auto& one : releases_of(store))
      out.push_back({store, one, store == "etcd" && one.name == "debian"});
  }
  return out;
}

class Lockstep : public testing::TestWithParam<pair> {
 protected:
  void SetUp() override {
    const pair& one = GetParam();
    if (one.release.binary.empty()) GTEST_SKIP() << one.release.why;
    servers_ = std::make_unique<lockstep>(ask_server(one.store, one.release),
                                          ask_model(one.store, one.is_old));
  }
  void TearDown() override {
    if (!servers_) return;
    EXPECT_GT(servers_->asked(), 0U);
    for (const std::string& one : servers_->differences()) ADD_FAILURE() << one;
  }

  [[nodiscard]] std::unique_ptr<player> join(const std::string& identity, std::uint32_t slots = 1) {
    auto out = std::make_unique<player>(loop_, GetParam().store, *servers_, identity, slots);
    out->open();
    return out;
  }

  hand_loop loop_;
  std::unique_ptr<lockstep> servers_;
};

INSTANTIATE_TEST_SUITE_P(Of, Lockstep, testing::ValuesIn(pairs()), [](const auto& one) {
  return one.param.store + "_" + one.param.release.name;
});

TEST_P(Lockstep, TermsFollowEachOther) {
  const auto a = join("a");
  const auto b = join("b");
  EXPECT_EQ(a->acquire(), "granted");
  EXPECT_EQ(b->acquire(), "refused");
  EXPECT_EQ(a->renew(), "renewed");
  EXPECT_EQ(b->read(), "a ");
  EXPECT_EQ(a->acquire(), "granted") << "once more";
  EXPECT_EQ(a->release(true), "released");
  EXPECT_EQ(a->release(true), "released") << "nothing is left";
  EXPECT_EQ(a->renew(), "lost");
  EXPECT_EQ(b->acquire(), "granted");
  EXPECT_EQ(b->release(false, "a"), "released");
  EXPECT_EQ(b->read(), "");
}

TEST_P(Lockstep, ThreeMembersOfTwoSlots) {
  const auto a = join("a", 2);
  const auto b = join("b", 2);
  const auto c = join("c", 2);
  EXPECT_EQ(a->acquire(), "granted");
  EXPECT_EQ(b->acquire(), "granted");
  EXPECT_EQ(c->acquire(), "refused");
  EXPECT_EQ(b->renew(), "renewed");
  EXPECT_EQ(a->release(true), "released");
  EXPECT_EQ(c->acquire(), "granted");
  EXPECT_EQ(c->read(), "b c ");
}

TEST_P(Lockstep, OrdersAndAgreements) {
  const auto a = join("a");
  EXPECT_EQ(a->acquire(), "granted");
  EXPECT_EQ(a->leave_order("0123456789abcdef"), "written");
  EXPECT_EQ(a->drop_order("0123456789abcdef"), "written");
  EXPECT_NE(a->accept_versions(), "no answer");
  EXPECT_EQ(a->renew(), "renewed");
}

}  // namespace
}  // namespace tenure::tests
