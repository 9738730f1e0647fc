#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/vocabulary.hpp"

namespace tenure::stores {

/// What we say of ourselves in the list of members of each election, and which of it has to be
/// written yet. There is one write at a time, so that none overtakes another.
///
/// Not thread-safe.
class own_entries {
 public:
  explicit own_entries(std::size_t elections) : all_(elections) {}

  /// From now on.
  void say(std::size_t election, const core::readiness& what) {
    entry& one = all_[election];
    one.is_new = one.is_new || one.says != what;
    one.says = what;
  }

  /// What else is written beside that is new.
  void renew(std::size_t election) { all_[election].is_new = true; }

  /// Another run has our identity, and is to see that we live.
  void answer(std::size_t election) {
    ++all_[election].answers;
    renew(election);
  }
  /// How often we have answered.
  [[nodiscard]] std::uint64_t answers(std::size_t election) const { return all_[election].answers; }

  [[nodiscard]] const core::readiness& says(std::size_t election) const {
    return all_[election].says;
  }

  /// Our names are written anew, together with all that we say, or without any of it.
  void named(bool with_all) {
    for (entry& one : all_) one.is_new = !with_all;
  }

  /// Begins a write: of which elections, no more than `most`. Empty if nothing is new, or while
  /// another write is under way.
  [[nodiscard]] std::vector<std::size_t> begin_write(std::size_t most) {
    if (!writing_.empty()) return {};
    for (std::size_t i = 0; i < all_.size() && writing_.size() < most; ++i) {
      if (!all_[i].is_new) continue;
      all_[i].is_new = false;
      writing_.push_back(i);
    }
    return writing_;
  }

  /// The write has ended; what may not be there is new again.
  void end_write(bool is_done) {
    for (const std::size_t i : writing_) all_[i].is_new = all_[i].is_new || !is_done;
    writing_.clear();
  }

 private:
  struct entry {
    core::readiness says{};
    std::uint64_t answers = 0;
    bool is_new = false;
  };

  std::vector<entry> all_;
  std::vector<std::size_t> writing_;
};

}  // namespace tenure::stores
