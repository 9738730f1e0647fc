#include "runtime/metered_store.hpp"

#include <utility>
#include <vector>

#include "stores/forwarding_store.hpp"

namespace tenure::runtime {
namespace {

using metrics::operation;
using metrics::outcome;

outcome outcome_of(const stores::grant&) {
  return outcome::done;
}
outcome outcome_of(const stores::refusal&) {
  return outcome::refused;
}
/// One request for all elections of an agent: lost if any of them is lost, else unknown if any is.
outcome outcome_of(const stores::renewal& what) {
  if (!what.lost.empty()) return outcome::lost;
  return what.unanswered.empty() ? outcome::done : outcome::unknown;
}
outcome outcome_of(const stores::released&) {
  return outcome::done;
}
outcome outcome_of(const core::observation&) {
  return outcome::done;
}
outcome outcome_of(const stores::unknown&) {
  return outcome::unknown;
}

class metered_store final : public stores::forwarding_store {
 public:
  metered_store(std::unique_ptr<stores::store> of, metrics::instruments& in,
                const base::event_loop& on)
      : forwarding_store(std::move(of)), in_(in), loop_(on) {}

  void acquire(core::election_index which, core::version above, core::time_point deadline,
               stores::handler<stores::acquire_outcome> done) override {
    inner().acquire(which, above, deadline, counted(operation::acquire, std::move(done)));
  }

  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             stores::handler<stores::renew_outcome> done) override {
    auto timed = [this, asked_at = loop_.now(),
                  done = std::move(done)](stores::renew_outcome what) mutable {
      if (std::holds_alternative<stores::renewal>(what)) {
        in_.renewal_took(loop_.now() - asked_at);
      }
      done(std::move(what));
    };
    inner().renew(std::move(items), deadline,
                  counted<stores::renew_outcome>(operation::renew, std::move(timed)));
  }

  void release(core::election_index which, core::version version, stores::release_details how,
               core::time_point deadline, stores::handler<stores::release_outcome> done) override {
    inner().release(which, version, std::move(how), deadline,
                    counted(operation::release, std::move(done)));
  }

  /// To the store it is a release.
  void end_term(core::election_index which, const core::holder& whose, stores::release_details how,
                core::time_point deadline, stores::handler<stores::release_outcome> done) override {
    inner().end_term(which, whose, std::move(how), deadline,
                     counted(operation::release, std::move(done)));
  }

  void read(core::election_index which, core::time_point deadline,
            stores::handler<stores::read_outcome> done) override {
    inner().read(which, deadline, counted(operation::read, std::move(done)));
  }

  /// Only the first state that a watch shows counts as an answer.
  void watch(core::election_index which, stores::watch_handler seen) override {
    inner().watch(which, [this, seen = std::move(seen), answered = false](
                             std::variant<core::observation, stores::unknown> what) mutable {
      const bool broke = std::holds_alternative<stores::unknown>(what);
      if (broke || !std::exchange(answered, true)) {
        in_.store_answered(operation::watch, broke ? outcome::unknown : outcome::done);
      }
      seen(std::move(what));
    });
  }

 private:
  template <class Outcome>
  stores::handler<Outcome> counted(operation what, stores::handler<Outcome> done) {
    return [this, what, done = std::move(done)](Outcome came) mutable {
      in_.store_answered(what, std::visit([](const auto& one) { return outcome_of(one); }, came));
      done(std::move(came));
    };
  }

  metrics::instruments& in_;
  const base::event_loop& loop_;
};

}  // namespace

std::unique_ptr<stores::store> make_metered_store(std::unique_ptr<stores::store> of,
                                                  metrics::instruments& in,
                                                  const base::event_loop& on) {
  return std::make_unique<metered_store>(std::move(of), in, on);
}

}  // namespace tenure::runtime
