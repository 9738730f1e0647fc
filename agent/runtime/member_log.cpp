#include "runtime/member_log.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace tenure::runtime {
namespace {

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace

bool member_log::observed(const std::optional<std::vector<core::member>>& members,
                          std::int64_t unix_ms) {
  if (!members) return false;
  const auto names = *members | std::views::transform(&core::member::identity);
  if (std::ranges::equal(names, present_)) return false;
  const std::vector<std::string> before =
      std::exchange(present_, std::vector<std::string>(names.begin(), names.end()));
  api::gone_list now;
  for (const std::string& one : before) {
    if (!has(present_, one)) now.push_back({.identity = one, .last_seen_unix_ms = unix_ms});
  }
  for (const api::gone_member& one : gone_ ? *gone_ : api::gone_list()) {
    if (!has(present_, one.identity)) now.push_back(one);
  }
  if (now.size() > most_gone) now.resize(most_gone);
  if (now == (gone_ ? *gone_ : api::gone_list())) return false;
  gone_ = now.empty() ? nullptr : std::make_shared<const api::gone_list>(std::move(now));
  return true;
}

}  // namespace tenure::runtime
