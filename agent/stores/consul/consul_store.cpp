#include "stores/consul/consul_store.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/check.hpp"
#include "settings/store_kind.hpp"
#include "stores/consul/agreements.hpp"
#include "stores/consul/campaigns.hpp"
#include "stores/consul/layout.hpp"
#include "stores/consul/line.hpp"
#include "stores/consul/membership.hpp"
#include "stores/consul/orders.hpp"
#include "stores/consul/releases.hpp"
#include "stores/consul/renewals.hpp"
#include "stores/consul/shared_state.hpp"
#include "stores/consul/subscriptions.hpp"
#include "stores/trouble_notes.hpp"

namespace tenure::stores {
namespace {

using namespace consul;

/// How long a start waits before it reports that Consul cannot be reached.
constexpr core::duration consul_patience = std::chrono::seconds(5);
/// Consul's limits of a session's TTL. The servers' `session_ttl_min` may lower the first one, and
/// only they know.
constexpr core::duration least_session_ttl = std::chrono::milliseconds(1);
constexpr core::duration most_session_ttl = std::chrono::hours(24);
/// Watches at a time: half of what Consul lets one address have (http_max_conns_per_client).
constexpr std::size_t most_folders = 100;
constexpr const settings::store_kind& consul_kind = *settings::find_store_kind("consul");

/// True for an error that only a change of the configuration can end.
bool is_final(error_meaning what) {
  return is_refusal(what) || what == error_meaning::unsupported || what == error_meaning::invalid;
}

class consul_store final : public store {
 public:
  consul_store(base::event_loop& on, const http::http_connector& connect, setup with,
               const std::vector<settings::endpoint>& endpoints)
      : namesakes_(
            on, with.elections.size(),
            {.answer = [this](core::election_index which) { membership_.answer_namesake(which); },
             .changed = [this](core::election_index which) { changed(which); }}),
        shared_(
            on, connect, std::move(with), endpoints,
            {.changed = [this](core::election_index which) { changed(which); },
             .live = [this](core::election_index which) { live(which); },
             .broken = [this](const auto& which, const call_failure& what) { broken(which, what); },
             .heard = [this] { heard(); }}),
        campaigns_(shared_),
        renewals_(shared_),
        releases_(shared_),
        agreements_(shared_),
        orders_(shared_),
        membership_(shared_.loop, shared_.agents, shared_.self.identity, shared_.self.mark,
                    shared_.with.ttl, shared_.with.elections),
        line_(shared_, membership_),
        subscriptions_(shared_, line_) {
    shared_.self.namesakes = &namesakes_;
    membership_.on_offer([this](core::election_index which) { subscriptions_.changed(which); });
    shared_.sessions.on_gone([this](const std::string& id) { renewals_.session_is_gone(id); });
  }

  ~consul_store() override { close(); }

  void open(handler<std::expected<description, open_error>> done) override;
  [[nodiscard]] description describe() const override { return self_; }

  void acquire(core::election_index which, core::version /*above*/, core::time_point deadline,
               handler<acquire_outcome> done) override {
    check(which);
    campaigns_.acquire(which, deadline, std::move(done));
  }

  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             handler<renew_outcome> done) override {
    for (const auto& item : items) check(item.which);
    renewals_.renew(std::move(items), deadline, std::move(done));
  }

  void release(core::election_index which, core::version version, release_details how,
               core::time_point deadline, handler<release_outcome> done) override {
    check(which);
    releases_.release(which, version, how, deadline, std::move(done));
  }

  void end_term(core::election_index which, const core::holder& whose, release_details how,
                core::time_point deadline, handler<release_outcome> done) override {
    check(which);
    releases_.end_term(which, whose, how, deadline, std::move(done));
  }

  void read(core::election_index which, core::time_point deadline,
            handler<read_outcome> done) override {
    check(which);
    shared_.read(which, deadline,
                 [this, done = std::move(done)](std::expected<looked, unknown> now) mutable {
                   if (!now) return shared_.answer(std::move(done), read_outcome(now.error()));
                   shared_.answer(std::move(done), read_outcome(now->at.observe()));
                 });
  }

  void watch(core::election_index which, watch_handler seen) override {
    check(which);
    subscriptions_.add(which, std::move(seen));
  }

  void accept_versions(core::election_index which, core::time_point deadline,
                       handler<agree_outcome> done) override {
    check(which);
    agreements_.accept_versions(which, deadline, std::move(done));
  }

  void leave_order(core::election_index which, core::left_order what, core::time_point deadline,
                   handler<order_outcome> done) override {
    orders_.leave(which, std::move(what), deadline, std::move(done));
  }

  void answer_order(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline, handler<order_outcome> done) override {
    orders_.answer(which, id, std::move(reply), deadline, std::move(done));
  }

  void drop_order(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) override {
    orders_.drop(which, id, deadline, std::move(done));
  }

  void announce(core::election_index which, const core::readiness& says) override {
    if (shared_.with.announce) membership_.say(which, says);
  }

  void stand_in_line(core::election_index which, bool stands) override {
    if (shared_.with.announce) line_.want(which, stands);
  }

  void leave(core::time_point deadline, handler<release_outcome> done) override {
    struct departure {
      int left = 2;
      handler<release_outcome> done;
    };
    const auto all = std::make_shared<departure>();
    all->done = std::move(done);
    auto gone = shared_.guarded([all] {
      if (--all->left == 0) all->done(released{});
    });
    line_.leave(deadline, gone);
    // A session that may hold something ends by itself: to destroy it would be a release.
    if (shared_.holds_nothing()) {
      ++all->left;
      shared_.sessions.end(deadline, gone);
    }
    membership_.leave(deadline, [gone](const release_outcome&) mutable { gone(); });
  }

  void close() override {
    namesakes_.close();
    line_.close();
    membership_.close();
    campaigns_.close();
    subscriptions_.close();
    shared_.close();
    opening_ = nullptr;
  }

 private:
  void check(core::election_index which) const {
    TENURE_CHECK(core::place(which) < shared_.mirrors.size());
  }
  void describe_server(const reply_or_failure& what);
  void check_token();
  [[nodiscard]] std::string misplaced() const;
  void refuse_to_open(std::string why);
  void opened();
  void note_trouble(core::election_index which) {
    const auto is_over = [&] {
      return "any member may lock the key " + lock_key(shared_.spec(which).name) + " again";
    };
    troubles_.see(which, shared_.seen(which).trouble(), is_over, shared_.with.notes);
  }
  void look_for_namesakes(core::election_index which, bool missed) {
    const names_like_ours names = shared_.seen(which).names();
    namesakes_.see(which, names.others, names.has_ours, missed);
  }
  void changed(core::election_index which) {
    look_for_namesakes(which, false);
    note_trouble(which);
    line_.changed(which);
    subscriptions_.changed(which);
  }
  void live(core::election_index which);
  void stand_by();
  void broken(const std::vector<core::election_index>& which, const call_failure& what);
  void heard() {
    if (shared_.with.hears) shared_.with.hears(core::contact::showed{});
  }

  namesakes namesakes_;
  shared_state shared_;
  campaigns campaigns_;
  renewals renewals_;
  releases releases_;
  agreements agreements_;
  orders orders_;
  membership membership_;
  line line_;
  subscriptions subscriptions_;
  trouble_notes troubles_;
  description self_;
  bool is_ready_ = false;  ///< the session is kept ready
  handler<std::expected<description, open_error>>
      opening_;  ///< until the first connection or failure
};

void consul_store::open(handler<std::expected<description, open_error>> done) {
  opening_ = std::move(done);
  self_.store = consul_kind.name;
  self_.expiry_lag = settings::expiry_lag_of(consul_kind.name, shared_.with.ttl);
  self_.min_ttl = least_session_ttl;
  self_.max_ttl = most_session_ttl;
  if (auto checked = shared_.agents.check(); !checked) {
    shared_.loop.post(shared_.guarded([this, why = checked.error()] { refuse_to_open(why); }));
    return;
  }
  shared_.agents.call({.path = "/v1/agent/self"}, shared_.loop.now() + consul_patience,
                      shared_.guarded([this](const reply_or_failure& what) {
                        describe_server(what);
                        check_token();
                      }));
}

/// To a token that may not read a folder, Consul shows an empty folder; but it refuses a single
/// key.
void consul_store::check_token() {
  shared_.agents.call({.path = "/v1/kv/" + lock_key(shared_.spec(core::election_index{0}).name),
                       .query = "consistent"},
                      shared_.loop.now() + consul_patience,
                      shared_.guarded([this](const reply_or_failure& what) {
                        if (!what && is_final(what.error().meaning))
                          return refuse_to_open(what.error().why);
                        if (std::string why = misplaced(); !why.empty())
                          return refuse_to_open(std::move(why));
                        // Even if no agent has answered: the watcher goes on until one does.
                        shared_.watches.start();
                      }));
}

/// Why the agent that was asked cannot keep leases where the settings want them; empty if it can,
/// as far as it says what it is.
std::string consul_store::misplaced() const {
  const settings::consul& where = shared_.with.consul;
  const std::string at = shared_.agents.present();
  if (!where.datacenter.empty() && !self_.cluster_id.empty() &&
      where.datacenter != self_.cluster_id) {
    return at + " is an agent of datacenter " + self_.cluster_id + ", and datacenter is " +
           where.datacenter +
           ": a session is of a node of its own datacenter; give the address of an agent there";
  }
  if (!where.partition.empty() && !self_.server_version.empty() &&
      !has_partitions(self_.server_version)) {
    return at + " is Consul " + self_.server_version +
           ", which knows no partitions and would keep the locks outside of them; remove the "
           "setting, or take Consul Enterprise 1.11 or later";
  }
  return {};
}

/// A token that may not read the agent's own description can still keep leases.
void consul_store::describe_server(const reply_or_failure& what) {
  const auto said =
      what ? parse_agent(what->body) : std::unexpected(malformed{.why = what.error().why});
  if (!said) {
    self_.warnings = {"the version of Consul is unknown: " + said.error().why};
    if (!shared_.with.consul.partition.empty()) {
      self_.warnings.emplace_back(
          "partition is ignored by Consul before 1.11, and the agent does not say what it is");
    }
    return;
  }
  self_.server_version = said->version;
  self_.cluster_id = said->datacenter;
}

/// Connected, for the first time or again.
void consul_store::live(core::election_index which) {
  opened();
  look_for_namesakes(which, true);
  note_trouble(which);
  if (!shared_.closed()) line_.changed(which);
  if (!shared_.closed()) subscriptions_.live(which);
  if (!shared_.closed() && shared_.with.announce) stand_by();
}

/// A member that is listed pays for its name anyway: it also has its session ready.
void consul_store::stand_by() {
  membership_.appear();
  if (!std::exchange(is_ready_, true)) shared_.sessions.keep_ready();
}

void consul_store::broken(const std::vector<core::election_index>& which,
                          const call_failure& what) {
  // At start this is a mistake in the configuration, and waiting does not help.
  if (is_final(what.meaning)) refuse_to_open(what.why);
  if (opening_) self_.warnings.push_back("Consul cannot be used yet, retrying: " + what.why);
  opened();
  for (const core::election_index one : which) {
    if (!shared_.closed()) line_.changed(one);
  }
  if (!shared_.closed()) subscriptions_.broken(which, what.why);
}

void consul_store::refuse_to_open(std::string why) {
  if (opening_) std::exchange(opening_, nullptr)(std::unexpected(open_error{std::move(why)}));
}

void consul_store::opened() {
  if (opening_) std::exchange(opening_, nullptr)(self_);
}

}  // namespace

std::expected<std::unique_ptr<store>, open_error> make_consul_store(
    base::event_loop& on, const http::http_connector& connect, setup with) {
  std::vector<settings::endpoint> endpoints;
  for (const std::string& url : with.endpoints) {
    auto parsed = settings::parse_local_endpoint(url, consul_kind.default_port);
    if (!parsed) return std::unexpected(open_error{"endpoint " + settings::text(parsed.error())});
    endpoints.push_back(std::move(*parsed));
  }
  if (endpoints.empty()) {
    return std::unexpected(open_error{"store consul needs an endpoint; give --endpoint " +
                                      std::string(consul_kind.example)});
  }
  if (const std::size_t folders = folders_of(with.elections).size(); folders > most_folders) {
    return std::unexpected(open_error{
        std::to_string(with.elections.size()) + " elections are in " + std::to_string(folders) +
        " folders of Consul, and each is watched on a connection of its own, of which an agent "
        "allows 200; name them FOLDER/NAME, with at most " +
        std::to_string(most_folders) + " folders"});
  }
  return std::make_unique<consul_store>(on, connect, std::move(with), endpoints);
}

}  // namespace tenure::stores
