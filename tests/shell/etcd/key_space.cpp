#include "etcd/key_space.hpp"

#include <optional>
#include <string_view>

#include "base/number_text.hpp"

namespace tenure::shell {
namespace {

constexpr std::string_view agreement_name = ".tenure.agreement";
constexpr std::string_view orders_name = ".tenure.orders/";

/// Of "slots=2 ..."; nothing for nonsense.
std::optional<std::uint32_t> slots_in(std::string_view text) {
  constexpr std::string_view word = "slots=";
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  return base::read_number<std::uint32_t>(text.substr(0, text.find(' ')));
}

/// "db0" of "db0.tenure.agreement"; empty for another key.
std::string agrees_on(const std::string& key) {
  if (!key.ends_with(agreement_name)) return {};
  return key.substr(0, key.size() - agreement_name.size());
}

}  // namespace

const key_space::change* key_space::find(const std::string& key, std::uint64_t at) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return nullptr;
  const auto& all = found->second;
  const auto after = std::ranges::upper_bound(all, at, {}, &change::mod);
  if (after == all.begin()) return nullptr;
  const change& newest = *std::prev(after);
  return newest.erased ? nullptr : &newest;
}

std::vector<key_space::found> key_space::range(const std::string& begin, const std::string& end,
                                               std::uint64_t at) const {
  std::vector<found> out;
  for (auto one = keys_.lower_bound(begin); one != keys_.end(); ++one) {
    if (end.empty() ? one->first != begin : one->first >= end) break;
    if (const change* const there = find(one->first, at)) out.emplace_back(one->first, there);
  }
  return out;
}

std::vector<key_space::found> key_space::under(const std::string& prefix) const {
  std::vector<found> out;
  for (auto one = keys_.lower_bound(prefix); one != keys_.end() && one->first.starts_with(prefix);
       ++one) {
    if (const change* const there = find(one->first, revision_)) {
      out.emplace_back(one->first, there);
    }
  }
  return out;
}

std::vector<std::string> key_space::keys_of(std::int64_t lease) const {
  std::vector<std::string> out;
  for (const auto& [key, all] : keys_) {
    if (!all.back().erased && all.back().lease == lease) out.push_back(key);
  }
  return out;
}

void key_space::writes(std::uint64_t from, std::uint64_t to,
                       const std::function<void(const std::string&, const change&)>& each) const {
  for (auto next = std::ranges::lower_bound(log_, from, {}, [](const auto& l) { return l.first; });
       next != log_.end() && next->first <= to; ++next) {
    const auto& all = keys_.at(next->second);
    each(next->second, *std::ranges::lower_bound(all, next->first, {}, &change::mod));
  }
}

void key_space::put(const std::string& key, const std::string& value, std::int64_t lease) {
  auto& all = keys_[key];
  const bool there = !all.empty() && !all.back().erased;
  const std::uint64_t create = there ? all.back().create : revision_;
  all.push_back({.mod = revision_, .create = create, .value = value, .lease = lease});
  log_.emplace_back(revision_, key);
  if (!there) witness_.created(key, revision_, lease, value);
  const std::string which = agrees_on(key);
  if (!which.empty()) witness_.agreed(which, slots_in(value).value_or(0));
}

bool key_space::erase(const std::string& key, erased_by how) {
  const auto found = keys_.find(key);
  if (found == keys_.end() || found->second.back().erased) return false;
  const std::uint64_t create = found->second.back().create;
  const std::string was = found->second.back().value;
  found->second.push_back({.mod = revision_, .create = 0, .value = {}, .lease = 0, .erased = true});
  log_.emplace_back(revision_, key);
  witness_.erased(key, create, how);
  if (const std::string which = agrees_on(key); !which.empty()) witness_.agreed(which, 0);
  if (key.contains(orders_name)) witness_.order_gone(was, how);
  return true;
}

bool key_space::end() {
  const bool wrote = !log_.empty() && log_.back().first == revision_;
  if (!wrote) --revision_;
  return wrote;
}

void key_space::restore(const backup& from, std::uint64_t bump) {
  revision_ = from.revision + bump;
  compacted_ = bump > 0 ? revision_ : from.compacted;
  keys_ = from.keys;
  log_ = from.log;
  std::vector<restored_key> there;
  for (const auto& [key, what] : under("")) there.push_back({key, what->create});
  witness_.restored(there, revision_);
  for (const auto& [key, what] : under("")) {
    const std::string which = agrees_on(key);
    if (!which.empty()) witness_.agreed(which, slots_in(what->value).value_or(0));
  }
}

}  // namespace tenure::shell
