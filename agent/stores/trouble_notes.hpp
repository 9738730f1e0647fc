#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/lease_group.hpp"
#include "stores/store.hpp"

namespace tenure::stores {

/// Says why we may not hold an election, once when that begins and once when it is over.
///
/// Not thread-safe.
class trouble_notes {
 public:
  /// `why`: empty if we may. `is_over`: makes the text that is said when we may again. `say` may be
  /// empty.
  template <class IsOver>
  void see(core::election_index which, std::string why, IsOver is_over,
           const std::function<void(const notice&)>& say) {
    const auto said = said_.find(which);
    if (said == said_.end() ? why.empty() : said->second == why) return;
    const bool is_trouble = !why.empty();
    if (say) say({.is_trouble = is_trouble, .text = is_trouble ? why : is_over()});
    if (is_trouble) {
      said_[which] = std::move(why);
    } else {
      said_.erase(which);
    }
  }

 private:
  std::map<core::election_index, std::string> said_;
};

}  // namespace tenure::stores
