#include "core/member_list.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tenure::core {

member_list::member_list(std::vector<member> all) {
  const auto newest_run_first = [](const member& a, const member& b) {
    if (const auto order = a.identity <=> b.identity; order != 0) return order < 0;
    const readiness one = a.says.value_or(readiness{});
    const readiness other = b.says.value_or(readiness{});
    return std::tie(one.started_unix_ms, one.since_unix_ms) >
           std::tie(other.started_unix_ms, other.since_unix_ms);
  };
  std::ranges::sort(all, newest_run_first);
  const auto again = std::ranges::unique(all, {}, &member::identity);
  all.erase(again.begin(), again.end());
  if (!all.empty()) all_ = std::make_shared<const std::vector<member>>(std::move(all));
}

const member* member_list::find(std::string_view identity) const {
  const auto found = std::ranges::lower_bound(all(), identity, {}, &member::identity);
  return found == end() || found->identity != identity ? nullptr : &*found;
}

const std::vector<member>& member_list::all() const {
  static const std::vector<member> none;
  return all_ ? *all_ : none;
}

}  // namespace tenure::core
