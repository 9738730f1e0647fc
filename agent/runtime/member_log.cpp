#include "runtime/member_log.hpp"

#include <utility>

namespace tenure::runtime {
namespace {

/// Those that were there before and are not now.
api::gone_list vanished(const core::member_list& before, const core::member_list& now,
                        std::int64_t unix_ms) {
  api::gone_list out;
  for (const core::member& one : before) {
    if (now.find(one.identity) != nullptr) continue;
    out.push_back({.identity = one.identity, .last_seen_unix_ms = unix_ms});
  }
  return out;
}

}  // namespace

bool member_log::observed(const std::optional<core::member_list>& members, std::int64_t unix_ms) {
  if (!members || *members == present_) return false;
  api::gone_list now = vanished(std::exchange(present_, *members), *members, unix_ms);
  for (const api::gone_member& one : gone_ ? *gone_ : api::gone_list()) {
    if (present_.find(one.identity) == nullptr) now.push_back(one);
  }
  if (now.size() > most_gone) now.resize(most_gone);
  if (now == (gone_ ? *gone_ : api::gone_list())) return false;
  gone_ = now.empty() ? nullptr : std::make_shared<const api::gone_list>(std::move(now));
  return true;
}

}  // namespace tenure::runtime
