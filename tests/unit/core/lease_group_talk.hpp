#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/lease_group.hpp"
#include "unit/core/conversation.hpp"

namespace tenure::core::testing {

/// A conversation with a group whose elections have all started and sent an acquire.
class session_talk {
 public:
  explicit session_talk(std::uint32_t elections, timing when = default_timing()) : subject_(when) {
    for (std::uint32_t i = 0; i < elections; ++i) {
      subject_.add(with(member(), [&](auto& m) { m.when = when; }));
    }
    asked_.resize(elections);
    for (std::uint32_t i = 0; i < elections; ++i) {
      step(i, event::started{});
      step(i, shows_free(no_version));
    }
  }

  /// Moves the clock to `since_start`, without an event.
  session_talk& at(duration since_start) {
    now_ = start_of_talk + since_start;
    return *this;
  }
  session_talk& entropy(std::uint64_t bits) {
    entropy_ = bits;
    return *this;
  }

  void step(std::uint32_t which, const election_event& what) {
    subject_.step(moment_now(), election_index{which}, what, out_);
    note();
  }
  void wake() {
    subject_.wake(moment_now(), out_);
    note();
  }

  /// The store grants the acquire of election `which`, sent at `sent`.
  void grant(std::uint32_t which, core::version version, duration sent, duration ttl = 15s,
             bool released_cleanly = false) {
    step(which, event::granted{.number = asked_[which],
                               .version = version,
                               .sequencer = {},
                               .ttl = ttl,
                               .sent_at = start_of_talk + sent,
                               .released_cleanly = released_cleanly});
  }
  /// As `grant`, and its workload runs at once.
  void activate(std::uint32_t which, core::version version, duration sent, duration ttl = 15s) {
    grant(which, version, sent, ttl, true);
    step(which, event::workload_started{version});
  }

  /// The store answers the renewal in flight.
  void acknowledge(duration sent, duration ttl = 15s, std::span<const renewal_loss> lost = {},
                   std::optional<attempt> number = {},
                   std::span<const election_index> unanswered = {}) {
    const attempt which = number.value_or(last_renewal_);
    out_.renew.reset();
    subject_.renewed(
        moment_now(), which,
        {.sent_at = start_of_talk + sent, .ttl = ttl, .lost = lost, .unanswered = unanswered},
        out_);
    note();
  }
  /// As `acknowledge`, but the store says nothing of this election.
  void acknowledge_all_but(std::uint32_t which, duration sent) {
    const std::array<election_index, 1> unanswered{election_index{which}};
    acknowledge(sent, 15s, {}, {}, unanswered);
  }
  void renewal_is_unknown() {
    out_.renew.reset();
    subject_.renewal_unknown(moment_now(), last_renewal_, out_);
    note();
  }

  /// The renewal ordered since `forget` or the last answer.
  [[nodiscard]] const std::optional<command::renew>& renewal() const { return out_.renew; }
  [[nodiscard]] attempt last_renewal() const { return last_renewal_; }
  [[nodiscard]] const std::vector<addressed>& orders() const { return out_.commands; }
  void forget() { out_.clear(); }

  [[nodiscard]] std::vector<std::uint64_t> terms_in_renewal() const {
    std::vector<std::uint64_t> terms;
    for (const renewal_item& item : subject_.renewing()) terms.push_back(number(item.version));
    return terms;
  }

  [[nodiscard]] const lease_group& subject() const { return subject_; }
  [[nodiscard]] const election& one(std::uint32_t i) const {
    return subject_.at(election_index{i});
  }
  /// The next wake, counted from the start.
  [[nodiscard]] duration next_wake() const { return subject_.next_wake() - start_of_talk; }

 private:
  [[nodiscard]] moment moment_now() const { return {.now = now_, .entropy = entropy_}; }

  void note() {
    for (const addressed& order : out_.commands) {
      if (const auto* acquire = std::get_if<command::acquire>(&order.what)) {
        asked_[place(order.which)] = acquire->number;
      }
    }
    if (out_.renew) last_renewal_ = out_.renew->number;
  }

  lease_group subject_;
  group_effects out_;
  std::vector<attempt> asked_;
  attempt last_renewal_{};
  time_point now_ = start_of_talk;
  std::uint64_t entropy_ = 0;
};

}  // namespace tenure::core::testing
