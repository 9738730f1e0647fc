#include "judged_store.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace tenure::shell {
namespace {

class judged_store final : public stores::store {
 public:
  judged_store(std::unique_ptr<stores::store> of, stage& s, const pod_machine& on,
               heard_of_store& to)
      : of_(std::move(of)), stage_(s), on_(on), to_(to) {}

  void open(stores::handler<std::expected<stores::description, stores::open_error>> done) override {
    of_->open(std::move(done));
  }
  [[nodiscard]] stores::description describe() const override { return of_->describe(); }

  void acquire(core::election_index which, core::version above, core::time_point deadline,
               stores::handler<stores::acquire_outcome> done) override {
    to_.campaigns(which);
    of_->acquire(which, above, deadline,
                 [this, which, done = std::move(done)](stores::acquire_outcome what) mutable {
                   const auto* got = std::get_if<stores::grant>(&what);
                   if (got == nullptr) return done(std::move(what));
                   const std::uint64_t version = core::number(got->term);
                   believes(which, got->term, got->sent_at, got->ttl);
                   stage_.referee.granted(on_.number, name(which), version);
                   if (got->released_cleanly) {
                     stage_.referee.believes_clean(on_.number, name(which), version);
                   }
                   done(std::move(what));
                   to_.believes();
                 });
  }

  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             stores::handler<stores::renew_outcome> done) override {
    of_->renew(
        items, deadline, [this, items, done = std::move(done)](stores::renew_outcome what) mutable {
          const auto* got = std::get_if<stores::renewal>(&what);
          if (got == nullptr) return done(std::move(what));
          for (const core::renewal_item& one : items) {
            const bool lost = std::ranges::any_of(
                got->lost, [&](const core::renewal_loss& l) { return l.which == one.which; });
            if (!lost) believes(one.which, one.term, got->sent_at, got->ttl);
          }
          done(std::move(what));
          to_.believes();
        });
  }

  void release(core::election_index which, core::version term, stores::parting how,
               core::time_point deadline, stores::handler<stores::release_outcome> done) override {
    if (how.clean) stage_.referee.says_clean(core::number(term));
    of_->release(which, term, std::move(how), deadline, std::move(done));
  }

  void read(core::election_index which, core::time_point deadline,
            stores::handler<stores::read_outcome> done) override {
    of_->read(which, deadline, std::move(done));
  }

  void watch(core::election_index which, stores::watch_handler seen) override {
    of_->watch(which, [this, which, seen = std::move(seen)](
                          std::variant<core::observation, stores::unknown> what) mutable {
      auto& shown = to_.shown[core::place(which)];
      shown.reset();
      if (const auto* state = std::get_if<core::observation>(&what)) {
        shown.emplace();
        for (const core::holder& one : state->holders) shown->push_back(core::number(one.term));
      }
      seen(std::move(what));
    });
  }

  void agree(core::election_index which, stores::agreement_change what, core::time_point deadline,
             stores::handler<stores::agree_outcome> done) override {
    of_->agree(which, what, deadline, std::move(done));
  }
  void leave_order(core::election_index which, core::left_order what, core::time_point deadline,
                   stores::handler<stores::order_outcome> done) override {
    of_->leave_order(which, std::move(what), deadline, std::move(done));
  }
  void answer_order(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline,
                    stores::handler<stores::order_outcome> done) override {
    of_->answer_order(which, id, std::move(reply), deadline, std::move(done));
  }
  void drop_order(core::election_index which, const std::string& id, core::time_point deadline,
                  stores::handler<stores::order_outcome> done) override {
    of_->drop_order(which, id, deadline, std::move(done));
  }
  void leave(core::time_point deadline, stores::handler<stores::release_outcome> done) override {
    of_->leave(deadline, std::move(done));
  }
  void close() override { of_->close(); }

 private:
  [[nodiscard]] const std::string& name(core::election_index which) const {
    return stage_.elections[core::place(which)];
  }
  void believes(core::election_index which, core::version term, core::time_point sent_at,
                core::duration ttl) {
    stage_.referee.believes(on_.number, name(which), core::number(term), on_.clock.world(sent_at),
                            ttl, stage_.servers);
  }

  std::unique_ptr<stores::store> of_;
  stage& stage_;
  const pod_machine& on_;
  heard_of_store& to_;
};

}  // namespace

std::unique_ptr<stores::store> make_judged_store(std::unique_ptr<stores::store> of, stage& s,
                                                 const pod_machine& on, heard_of_store& to) {
  return std::make_unique<judged_store>(std::move(of), s, on, to);
}

}  // namespace tenure::shell
