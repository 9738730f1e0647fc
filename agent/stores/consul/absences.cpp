#include "stores/consul/absences.hpp"

#include <algorithm>
#include <utility>

#include "stores/consul/codec.hpp"

namespace tenure::stores::consul {
namespace {

/// Why not all of the keys that these operations read are known to be gone; no words: they are.
call_failure judged(std::span<const operation> asked, const reply& answer,
                    const std::string& server) {
  const auto said = parse_transaction(static_cast<int>(answer.status), answer.body);
  if (!said) return {.why = server + ": " + said.error().why};
  std::vector<bool> gone(asked.size());
  for (const failed_operation& one : said->failed) {
    if (one.which >= gone.size()) return {.why = server + ": " + contradiction(asked, *said)};
    if (one.why != failure::changed) return {.why = server + ": " + one.what};
    gone[one.which] = true;
  }
  const auto there = std::ranges::find(gone, false);
  if (there == gone.end()) return {};
  const auto which = static_cast<std::size_t>(there - gone.begin());
  const std::string& key = std::get<fetch>(asked[which]).key;
  if (std::ranges::find(said->shown, key, &key_value::key) != said->shown.end()) {
    return {.why = server + " shows the key " + key + ", which it has just not shown"};
  }
  return {.meaning = error_meaning::denied,
          .why = server + " no longer shows the key " + key +
                 ", although it is there: " + std::string(lost_permission)};
}

}  // namespace

void confirm_absent(cluster& through, std::vector<std::string> keys, core::time_point deadline,
                    handler<std::expected<void, call_failure>> done) {
  std::vector<operation> some;
  while (!keys.empty() && some.size() < most_operations) {
    some.emplace_back(fetch{keys.back()});
    keys.pop_back();
  }
  request asks = through.transaction(some);
  through.call(std::move(asks), deadline,
               [&through, some, keys = std::move(keys), deadline,
                done = std::move(done)](const reply_or_failure& what) mutable {
                 if (!what) return done(std::unexpected(what.error()));
                 call_failure why = judged(some, *what, through.present());
                 if (!why.why.empty()) return done(std::unexpected(std::move(why)));
                 if (keys.empty()) return done({});
                 confirm_absent(through, std::move(keys), deadline, std::move(done));
               });
}

}  // namespace tenure::stores::consul
