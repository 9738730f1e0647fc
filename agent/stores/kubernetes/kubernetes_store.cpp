#include "stores/kubernetes/kubernetes_store.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/check.hpp"
#include "settings/store_kind.hpp"
#include "stores/kubernetes/agreements.hpp"
#include "stores/kubernetes/campaigns.hpp"
#include "stores/kubernetes/layout.hpp"
#include "stores/kubernetes/membership.hpp"
#include "stores/kubernetes/orders.hpp"
#include "stores/kubernetes/releases.hpp"
#include "stores/kubernetes/renewals.hpp"
#include "stores/kubernetes/shared_state.hpp"
#include "stores/kubernetes/start_check.hpp"
#include "stores/kubernetes/subscriptions.hpp"
#include "stores/trouble_notes.hpp"

namespace tenure::stores {
namespace {

using namespace kubernetes;

/// How long a start waits before it reports that Kubernetes cannot be reached.
constexpr core::duration start_patience = std::chrono::seconds(5);
constexpr core::duration least_ttl = std::chrono::seconds(1);
constexpr core::duration most_ttl = std::chrono::seconds(std::numeric_limits<std::int32_t>::max());
constexpr const settings::store_kind& kubernetes_kind = *settings::find_store_kind("kubernetes");

/// True for an error that only a change of the configuration can end.
bool is_final(error_meaning what) {
  return is_refusal(what) || what == error_meaning::unsupported || what == error_meaning::invalid ||
         what == error_meaning::missing || what == error_meaning::nowhere;
}

class kubernetes_store final : public store {
 public:
  kubernetes_store(base::event_loop& on, const http::http_connector& connect, setup with,
                   const std::vector<settings::endpoint>& endpoints)
      : shared_(
            on, connect, std::move(with), endpoints,
            {.changed = [this](core::election_index which) { changed(which); },
             .live = [this](core::election_index which) { live(which); },
             .broken = [this](const auto& which, const call_failure& what) { broken(which, what); },
             .heard = [this] { heard(); }}),
        campaigns_(shared_),
        renewals_(shared_),
        releases_(shared_),
        subscriptions_(shared_),
        agreements_(shared_),
        orders_(shared_),
        membership_(shared_),
        start_check_(shared_) {}

  ~kubernetes_store() override { close(); }

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
                 [this, which, done = std::move(done)](std::expected<void, unknown> read) mutable {
                   if (!read) return shared_.answer(std::move(done), read_outcome(read.error()));
                   shared_.answer(std::move(done),
                                  read_outcome(shared_.seen(which).observe(shared_.loop.now())));
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
    orders_.leave(which, what, deadline, std::move(done));
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

  void leave(core::time_point deadline, handler<release_outcome> done) override {
    membership_.leave(deadline, std::move(done));
  }

  void close() override {
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
  void refuse_to_open(std::string why);
  void opened();
  void changed(core::election_index which);
  void live(core::election_index which);
  void broken(const std::vector<core::election_index>& which, const call_failure& what);
  void note_breaks(core::election_index which);
  void note(bool is_trouble, std::string text);
  void heard() {
    if (shared_.with.hears) shared_.with.hears(core::contact::showed{});
  }

  shared_state shared_;
  campaigns campaigns_;
  renewals renewals_;
  releases releases_;
  subscriptions subscriptions_;
  agreements agreements_;
  orders orders_;
  membership membership_;
  start_check start_check_;
  description self_;
  trouble_notes troubles_;
  std::set<core::election_index> waits_in_vain_;  ///< as was said
  bool members_hidden_ = false;                   ///< the watch of members is broken
  handler<std::expected<description, open_error>>
      opening_;  ///< until the first connection or failure
};

void kubernetes_store::open(handler<std::expected<description, open_error>> done) {
  opening_ = std::move(done);
  self_.store = kubernetes_kind.name;
  self_.expiry_lag = settings::expiry_lag_of(kubernetes_kind.name, shared_.with.ttl);
  self_.min_ttl = least_ttl;
  self_.max_ttl = most_ttl;
  if (auto checked = shared_.servers.check(); !checked) {
    shared_.loop.post(shared_.guarded([this, why = checked.error()] { refuse_to_open(why); }));
    return;
  }
  // Even if no server has answered: the watcher goes on until one does.
  start_check_.run(start_patience, [this](start_check::findings found) {
    self_.server_version = std::move(found.server_version);
    self_.warnings = std::move(found.warnings);
    found.refusal ? refuse_to_open(*found.refusal) : shared_.watches.start();
  });
}

void kubernetes_store::changed(core::election_index which) {
  const auto is_over = [&] {
    return "any member may hold the Lease " + shared_.spec(which).name + " again";
  };
  troubles_.see(which, shared_.seen(which).trouble(), is_over, shared_.with.notes);
  membership_.changed(which);
  if (!shared_.closed()) subscriptions_.changed(which);
}

/// Connected, for the first time or again.
void kubernetes_store::live(core::election_index which) {
  const bool all = shared_.watches.all_live();
  if (all) opened();
  if (all && std::exchange(members_hidden_, false)) {
    note(false, "the members of all elections are shown again");
  }
  note_breaks(which);
  if (!shared_.closed()) subscriptions_.live(which);
  if (!shared_.closed()) changed(which);
  if (!shared_.closed() && all && shared_.with.announce) membership_.appear();
}

/// Each break begins the count anew, so a Lease that lasts longer than a connection is never taken.
void kubernetes_store::note_breaks(core::election_index which) {
  const std::string lease = shared_.seen(which).waited_for_in_vain(shared_.loop.now());
  if (lease.empty() == !waits_in_vain_.contains(which)) return;
  if (lease.empty()) {
    waits_in_vain_.erase(which);
    return note(false,
                "the Leases of " + shared_.spec(which).name + " are watched for long enough");
  }
  waits_in_vain_.insert(which);
  note(true, "the Lease " + lease +
                 " has not changed for longer than it lasts and cannot be taken: " +
                 shared_.servers.present() +
                 ", or a balancer in between, ends each watch before that time is over; let idle "
                 "connections live for longer than the ttl, or choose a shorter ttl");
}

void kubernetes_store::broken(const std::vector<core::election_index>& which,
                              const call_failure& what) {
  // At start this is a mistake in the configuration, and waiting does not help.
  if (is_final(what.meaning)) refuse_to_open(what.why);
  if (opening_) self_.warnings.push_back("Kubernetes cannot be used yet, retrying: " + what.why);
  opened();
  if (which.empty() && !std::exchange(members_hidden_, true)) {
    note(true, "members are not shown, retrying: " + what.why);
  }
  if (!shared_.closed()) subscriptions_.broken(which, what.why);
}

void kubernetes_store::note(bool is_trouble, std::string text) {
  if (shared_.with.notes) shared_.with.notes({.is_trouble = is_trouble, .text = std::move(text)});
}

void kubernetes_store::refuse_to_open(std::string why) {
  if (opening_) std::exchange(opening_, nullptr)(std::unexpected(open_error{std::move(why)}));
}

void kubernetes_store::opened() {
  if (opening_) std::exchange(opening_, nullptr)(self_);
}

}  // namespace

std::expected<std::unique_ptr<store>, open_error> make_kubernetes_store(
    base::event_loop& on, const http::http_connector& connect, setup with) {
  std::vector<settings::endpoint> endpoints;
  for (const std::string& url : with.endpoints) {
    auto parsed = settings::parse_endpoint(url, kubernetes_kind.default_port);
    if (!parsed) return std::unexpected(open_error{"endpoint " + settings::text(parsed.error())});
    endpoints.push_back(std::move(*parsed));
  }
  if (endpoints.empty()) {
    return std::unexpected(open_error{"store kubernetes needs an endpoint; give --endpoint " +
                                      std::string(kubernetes_kind.example)});
  }
  for (const settings::election& one : with.elections) {
    TENURE_CHECK(settings::why_not_a_lease_name(one.name).empty());
  }
  return std::make_unique<kubernetes_store>(on, connect, std::move(with), endpoints);
}

}  // namespace tenure::stores
