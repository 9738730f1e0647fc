#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "world.hpp"

namespace tenure::shell {

/// A kind of fault, by a word that is one of the traits of a world that has it.
template <typename Kind>
struct named_kind {
  Kind kind;
  std::string_view name;
  std::size_t share = 1;  ///< how often it is drawn, against the others
};

/// Which kinds of faults one world has: three to six of all that there are, and in one
/// world of four all of them. Where each world has a little of everything, none has enough of two
/// kinds for them to meet (Groce, Zhang, Eide, Chen, Regehr: Swarm Testing, ISSTA 2012).
template <typename Kind>
class swarm {
 public:
  swarm(std::span<const named_kind<Kind>> all, rng& dice) {
    for (const named_kind<Kind>& one : all) drawn_.insert(drawn_.end(), one.share, one);
    has_all_ = dice.chance(250'000);
    if (has_all_) return;
    const std::uint64_t of = drawn_.size();
    const auto few = std::min(of, static_cast<std::uint64_t>(dice.between(std::int64_t{3}, 6)));
    for (std::uint64_t i = 0; i < few; ++i) {
      std::swap(drawn_[i], drawn_[i + dice.below(of - i)]);
    }
    drawn_.resize(few);
  }

  [[nodiscard]] Kind draw(rng& dice) const { return drawn_[dice.below(drawn_.size())].kind; }

  /// Nothing of a world that has all.
  void tell(std::vector<std::string>& traits) const {
    if (has_all_) return;
    for (const named_kind<Kind>& one : drawn_) {
      if (std::ranges::find(traits, one.name) == traits.end()) traits.emplace_back(one.name);
    }
  }

 private:
  std::vector<named_kind<Kind>> drawn_;
  bool has_all_ = false;
};

}  // namespace tenure::shell
