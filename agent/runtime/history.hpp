#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/election_status.hpp"
#include "api/snapshot.hpp"
#include "core/vocabulary.hpp"

namespace tenure::runtime {

/// How many terms of each election an agent with this many elections keeps.
std::size_t terms_kept(std::size_t elections);

/// The terms of one election, as far as this agent has seen them, and how long no member was active
/// between them. Log, API, commands, page and metrics have these numbers from here alone.
///
/// Every agent judges a term by what the store shows of it, its holder's agent too, so all of them
/// give one reason for one term.
///
/// Not thread-safe; but the object that `terms` returns never changes.
class history {
 public:
  struct settings {
    std::string identity;
    std::size_t most = 0;  ///< terms to keep
    std::uint32_t slots = 1;
    core::duration ttl{};         ///< the length of each member's lease
    core::duration expiry_lag{};  ///< how late the store may notice that a lease has run out
    /// A member that follows a holder without a release record is active this long after its grant.
    core::duration lock_delay{};
  };
  explicit history(settings with) : with_(std::move(with)) {}

  /// The watch shows this at `at`. True if it is new.
  bool observed(const core::observation& seen, const api::instant& at);

  /// A term of our own has begun. `cleanly`: the holder before had released its own.
  void began(core::version version, bool cleanly, const api::instant& at);

  /// Our own term is active. The time without an active member that this ends; nothing if no
  /// earlier term is known, or if others are active.
  std::optional<api::outage> active(const api::instant& at);

  /// Our own term is being ended, for this reason; its newest renewal was sent at `renewed_at`, or
  /// it is not known when (`never`).
  void ending(core::loss_reason why, core::time_point renewed_at);
  /// It is not known whether the store has released its lease.
  void not_released() { gives_up_ = false; }
  /// Our own term is over: nothing runs, and its lease was released if possible.
  void ended(const api::instant& at);

  /// In the order in which they were seen to begin, the oldest first: versions begin anew where an
  /// operator has accepted smaller ones. Never null.
  [[nodiscard]] const std::shared_ptr<const api::term_list>& terms() const { return shown_; }

 private:
  /// A term, and what is needed to measure the time after it.
  struct term {
    api::past_term shown;
    core::time_point ended_at = core::never;
    /// The holder was active until then at least; `never`: ask `silent_from`.
    core::time_point renewed_at = core::never;
    bool left_record = false;  ///< a release record
    /// The holder was active until it released: it has not lost its lease before.
    bool gave_up = false;
    bool was_last = false;                   ///< no member held when it had ended
    core::time_point next_at = core::never;  ///< the grant that followed; our own: when active
    bool next_is_ours = false;
  };
  term* find(core::version version);
  void add(api::past_term shown);
  void close(term& one, const api::instant& at);
  [[nodiscard]] bool is_over(const term& one, const core::observation& seen) const;
  bool read_record(const std::optional<core::release_record>& record, const api::instant& at);
  void follow(core::time_point granted_at, const api::instant& at);
  void note_renewal(const core::observation& seen, bool is_first, core::time_point now);
  void measure(term& one, const api::instant& at) const;
  void show();

  settings with_;
  std::vector<term> all_;
  std::shared_ptr<const api::term_list> shown_ = std::make_shared<const api::term_list>();
  core::version own_ = core::no_version;           ///< our term, until it has ended
  bool gives_up_ = false;                          ///< it is being released, as far as is known
  core::version vacant_after_ = core::no_version;  ///< the term that no member has followed yet
  bool has_seen_ = false;
  // The newest renewal of another holder that the watch has shown.
  core::version renewed_ = core::no_version;
  core::time_point renewed_at_ = core::never;  ///< `never`: the store does not show renewals
  core::time_point expires_at_ = core::never;
};

}  // namespace tenure::runtime
