#include "judged_store.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sqlite/sqlite_host.hpp"
#include "stores/forwarding_store.hpp"

namespace tenure::shell {
namespace {

class judged_store final : public stores::forwarding_store {
 public:
  judged_store(std::unique_ptr<stores::store> of, stage& s, const pod_machine& on,
               heard_of_store& to)
      : forwarding_store(std::move(of)), stage_(s), on_(on), to_(to) {}

  void acquire(core::election_index which, core::version above, core::time_point deadline,
               stores::handler<stores::acquire_outcome> done) override {
    to_.campaigns(which);
    const std::uint64_t number_of_it = ++asked_[core::place(which)];
    ++to_.acquires;
    inner().acquire(which, above, deadline,
                    [this, which, deadline, number_of_it,
                     done = std::move(done)](stores::acquire_outcome what) mutable {
                      --to_.acquires;
                      const bool is_newest = number_of_it == asked_[core::place(which)];
                      if (is_newest && std::holds_alternative<stores::unknown>(what)) {
                        stage_.referee.does_not_know(on_.number, name(which));
                      }
                      const auto* got = std::get_if<stores::grant>(&what);
                      if (got == nullptr) return done(std::move(what));
                      const std::uint64_t version = number(which, got->version);
                      to_.newest = std::max(to_.newest, core::number(got->version));
                      stage_.referee.granted(on_.number, name(which), version, key_of(which, *got),
                                             got->slot);
                      believes(which, got->version, got->sent_at, got->ttl);
                      if (got->released_cleanly) {
                        stage_.referee.believes_clean(on_.number, name(which), version);
                      }
                      to_.hears();
                      const bool is_late = now() >= deadline;
                      done(std::move(what));
                      to_.believes(is_late ? std::optional(version) : std::nullopt, which);
                    });
  }

  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             stores::handler<stores::renew_outcome> done) override {
    for (const core::renewal_item& one : items) {
      stage_.referee.renews(on_.number, name(one.which), number(one.which, one.version));
    }
    ++to_.renewals;
    to_.renews_since = stage_.in.now;
    inner().renew(
        items, deadline,
        [this, items, deadline, done = std::move(done)](stores::renew_outcome what) mutable {
          --to_.renewals;
          const auto* got = std::get_if<stores::renewal>(&what);
          if (got == nullptr) return done(std::move(what));
          for (const core::renewal_item& one : items) {
            const auto lost = std::ranges::find(got->lost, one.which, &core::renewal_loss::which);
            if (lost != got->lost.end()) {
              hears_of_loss(one, lost->room, now() < deadline);
            } else if (std::ranges::find(got->unanswered, one.which,
                                         &stores::unanswered_renewal::which) ==
                       got->unanswered.end()) {
              believes(one.which, one.version, got->sent_at, got->ttl);
            }
          }
          to_.hears();
          done(std::move(what));
          to_.believes(std::nullopt, std::nullopt);
        });
  }

  void release(core::election_index which, core::version version, stores::release_details how,
               core::time_point deadline, stores::handler<stores::release_outcome> done) override {
    ++asked_[core::place(which)];
    stage_.referee.finds_out(on_.number, name(which));
    if (how.clean) {
      stage_.referee.says_clean(on_.number, name(which), number(which, version));
      if (stage_.host != nullptr) stage_.host->rows().gives_up(number(which, version));
    }
    inner().release(which, version, std::move(how), deadline, std::move(done));
  }

  void end_term(core::election_index which, const core::holder& whose, stores::release_details how,
                core::time_point deadline, stores::handler<stores::release_outcome> done) override {
    stage_.referee.is_witnessed(name(which), number(which, whose.version));
    inner().end_term(which, whose, std::move(how), deadline, std::move(done));
  }

  void answer_order(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline,
                    stores::handler<stores::order_outcome> done) override {
    const auto& orders = orders_[core::place(which)];
    const auto one = std::ranges::find(orders, id, &core::left_order::id);
    const auto accepts = [&](core::order_action what) {
      return reply.accepted && one != orders.end() && one->wanted.what == what;
    };
    // A watch that lags shows an order for longer than it is there.
    if (accepts(core::order_action::resume)) stage_.referee.resumes(on_.number, name(which));
    if (accepts(core::order_action::pause)) pauses_.insert(id);
    inner().answer_order(
        which, id, std::move(reply), deadline,
        [this, which, id, done = std::move(done)](stores::order_outcome what) mutable {
          const auto* written = std::get_if<stores::order_written>(&what);
          if (written != nullptr && written->done) hears_yes(which, id);
          if (written != nullptr) pauses_.erase(id);
          done(std::move(what));
        });
  }

  void watch(core::election_index which, stores::watch_handler seen) override {
    inner().watch(which, [this, which, seen = std::move(seen)](
                             std::variant<core::observation, stores::unknown> what) mutable {
      auto& shown = to_.shown[core::place(which)];
      shown.reset();
      if (const auto* state = std::get_if<core::observation>(&what)) {
        to_.newest = std::max(to_.newest, core::number(state->as_of));
        shown.emplace();
        for (const core::holder& one : state->holders) shown->push_back(number(which, one.version));
        stage_.referee.shown(on_.number, name(which), judged(which, *state));
        orders_[core::place(which)] = state->orders;
        for (const core::left_order& one : state->orders) {
          if (one.reply && one.reply->accepted) hears_yes(which, one.id);
        }
      }
      seen(std::move(what));
    });
  }

 private:
  [[nodiscard]] const std::string& name(core::election_index which) const {
    return stage_.elections[core::place(which)];
  }
  [[nodiscard]] std::uint64_t number(core::election_index which, core::version v) const {
    return stage_.judged(core::place(which), v);
  }
  /// A lease file has one term of each version.
  [[nodiscard]] std::string key_of(core::election_index which, const stores::grant& what) const {
    if (stage_.host != nullptr) return "";
    const std::string key = what.sequencer.substr(0, what.sequencer.find('@'));
    // With the name of the election instead of that of the namespace.
    return stage_.store == kept_in::kubernetes ? name(which) + key.substr(key.find('/')) : key;
  }
  /// With the versions as the judge numbers them.
  [[nodiscard]] core::observation judged(core::election_index which, core::observation what) const {
    for (core::holder& one : what.holders) one.version = core::version{number(which, one.version)};
    what.as_of = core::version{number(which, what.as_of)};
    what.agreed.versions_from = core::version{number(which, what.agreed.versions_from)};
    return what;
  }
  void believes(core::election_index which, core::version version, core::time_point sent_at,
                core::duration ttl) {
    if (stage_.host != nullptr) stage_.host->rows().taken_up(number(which, version));
    stage_.referee.believes(on_.number, name(which), number(which, version),
                            on_.clock.world(sent_at), ttl, stage_.promised);
  }

  void hears_of_loss(const core::renewal_item& what, core::duration room, bool in_time) {
    stage_.referee.told_lost(on_.number, name(what.which), number(what.which, what.version),
                             on_.clock.takes(room), in_time);
  }
  [[nodiscard]] core::time_point now() const { return on_.clock.local(stage_.in.now); }

  /// The member hears that its answer counts, if that is one to an order of another agent.
  void hears_yes(core::election_index which, const std::string& id) {
    if (pauses_.erase(id) > 0) stage_.referee.paused(on_.number, name(which));
  }

  stage& stage_;
  const pod_machine& on_;
  heard_of_store& to_;
  std::map<std::size_t, std::uint64_t> asked_;  ///< for leases and releases, of each election
  std::map<std::size_t, std::vector<core::left_order>> orders_;  ///< that the watch shows
  std::set<std::string> pauses_;  ///< accepted, and not heard yet whether that counts
};

}  // namespace

std::unique_ptr<stores::store> make_judged_store(std::unique_ptr<stores::store> of, stage& s,
                                                 const pod_machine& on, heard_of_store& to) {
  return std::make_unique<judged_store>(std::move(of), s, on, to);
}

}  // namespace tenure::shell
