#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/clock.hpp"
#include "core/election.hpp"
#include "core/vocabulary.hpp"

/// All elections of one agent that share a TTL, renewed together.
namespace tenure::core {

/// Which election of a group: its place in the order of `lease_group::add`.
enum class election_index : std::uint32_t {};

constexpr std::size_t place(election_index i) {
  return static_cast<std::size_t>(i);
}

/// A term that a renewal keeps alive.
struct renewal_item {
  election_index which{};
  core::version version = no_version;
};

namespace command {

/// Renew these terms, in one call where the store can. `lease_group::renewing()` lists them.
struct renew {
  attempt number{};
  time_point deadline{};
};

}  // namespace command

/// A command for one election.
struct addressed {
  election_index which{};
  election_command what;
};

/// The commands of the elections of a group, in order; `renew` is carried out last.
struct group_effects {
  std::vector<addressed> commands;
  std::optional<command::renew> renew;

  void clear() {
    commands.clear();
    renew.reset();
  }
};

/// A term in a renewal that the store says is over.
struct renewal_loss {
  election_index which{};
  loss_reason why = loss_reason::session_invalid;
  duration room{};  ///< see event::lost
};

/// What the store says about the terms of a renewal.
struct renewal_answer {
  time_point sent_at{};
  duration ttl{};
  std::span<const renewal_loss> lost{};
  /// Neither renewed nor lost: what became of these is unknown.
  std::span<const election_index> unanswered{};
};

/// Keeps the elections of one agent and renews all their leases with one call every `renew`, so
/// that ten thousand elections cost the store as much as one.
///
/// A renewal starts when the oldest acknowledged one is `renew` old. A failed try is unknown, never
/// a loss, and is repeated with jitter inside the budget; each try has its own deadline. If only
/// some terms of a try are unknown, these alone are tried again until the next renewal of all is
/// due, which must not wait for them.
///
/// Not thread-safe; one thread drives it.
class lease_group {
 public:
  explicit lease_group(const timing& when) : when_(when) {}

  /// Precondition: the election's timing is the group's. Its index is the number of earlier calls.
  election_index add(election_settings settings);

  /// Advances one election. Appends to `out`.
  void step(const moment& at, election_index which, const election_event& what, group_effects& out);

  /// Time has passed, or an election was resumed: does what is due in any election. Appends to
  /// `out`.
  void wake(const moment& at, group_effects& out);

  /// The renewal `number` was answered: every term in it is held for `ttl` from `sent_at`, except
  /// those in `lost`, which the store says are over, and those that are unanswered, which are tried
  /// again. Ignored if `number` is not in flight.
  void renewed(const moment& at, attempt number, const renewal_answer& said, group_effects& out);

  /// The outcome of renewal `number` is unknown.
  void renewal_unknown(const moment& at, attempt number, group_effects& out);

  /// The terms of the renewal in flight. Valid until the next call that may change it.
  [[nodiscard]] std::span<const renewal_item> renewing() const { return batch_; }

  /// When to call `wake` if nothing happens before.
  [[nodiscard]] time_point next_wake() const;

  [[nodiscard]] std::size_t size() const { return elections_.size(); }
  [[nodiscard]] const election& at(election_index i) const { return elections_[place(i)]; }

 private:
  friend struct state_reader;

  void apply(const moment& at, election_index which, const election_event& what,
             group_effects& out);
  void settle(const moment& at, group_effects& out);
  void begin_renewal(const moment& at, bool of_unanswered, group_effects& out);
  void renewal_failed(const moment& at);
  void try_unanswered_again(const moment& at);
  /// True if a term is held that was not in this renewal.
  [[nodiscard]] bool holds_more_than(std::span<const renewal_item> asked) const;
  void find_first_wake();
  [[nodiscard]] duration try_time(time_point now) const;
  [[nodiscard]] duration pause_after(std::uint32_t failures, std::uint64_t entropy) const;

  timing when_;
  std::vector<election> elections_;
  std::vector<time_point> wakes_;  ///< when each election wants to wake
  time_point first_wake_ = never;  ///< the smallest of wakes_

  std::vector<renewal_item> batch_;  ///< empty: no renewal is in flight
  attempt number_{};
  time_point deadline_ = never;  ///< the deadline of the renewal in flight
  time_point due_ = never;       ///< when the next renewal should start
  std::uint32_t failures_ = 0;   ///< tries in a row whose outcome is unknown

  std::vector<election_index> unanswered_;  ///< in the last try that was answered; ascending
  bool batch_of_unanswered_ = false;        ///< the renewal in flight is of these alone
  time_point unanswered_due_ = never;       ///< when such a one should start
  std::uint32_t unanswered_tries_ = 0;      ///< tries in a row with some of these
};

}  // namespace tenure::core
