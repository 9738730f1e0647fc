#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/snapshot.hpp"
#include "core/vocabulary.hpp"

namespace tenure::runtime {

/// How many terms of each election an agent with this many elections keeps.
std::size_t terms_kept(std::size_t elections);

/// The terms of one election, as far as this agent has seen them: its own from begin to end, those
/// of others as the watch shows them.
///
/// Not thread-safe; but the object that `terms` returns never changes.
class history {
 public:
  history(std::string identity, std::size_t most) : identity_(std::move(identity)), most_(most) {}

  /// The watch shows this at `unix_ms`. True if it is new.
  bool observed(const core::observation& seen, std::int64_t unix_ms);

  /// A term of our own has begun.
  void began(core::version version, std::int64_t unix_ms);

  /// Our own term is being ended, for this reason.
  void ending(core::loss_reason why);

  /// Our own term is over: nothing runs, and its lease was released if possible.
  void ended(std::int64_t unix_ms);

  /// In the order in which they were seen to begin, the oldest first: versions begin anew where an
  /// operator has accepted smaller ones. Never null.
  [[nodiscard]] const std::shared_ptr<const api::term_list>& terms() const { return shown_; }

 private:
  api::past_term* find(core::version version);
  void add(api::past_term one);
  bool close(api::past_term& one, const core::observation& seen, std::int64_t unix_ms);
  void show();

  std::string identity_;
  std::size_t most_;
  api::term_list all_;
  std::shared_ptr<const api::term_list> shown_ = std::make_shared<const api::term_list>();
  core::version own_ = core::no_version;  ///< our term, until it has ended
  bool has_seen_ = false;
};

}  // namespace tenure::runtime
