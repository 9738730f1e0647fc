#include "cli/text/knowledge.hpp"

#include <algorithm>

#include "cli/text/times.hpp"

namespace tenure::cli {

std::string as_of_text(const wire::election_report& of, std::int64_t age_ms) {
  if (!of.holder_age_ms) return "not known";
  return "as of " + span(*of.holder_age_ms + age_ms) + " ago";
}

std::string store_trouble(const wire::store_report& of, std::int64_t age_ms) {
  if (of.reachable) return {};
  std::string out = (of.kind.empty() ? "the store" : of.kind) + " does not answer";
  if (of.last_answer_ms) out += " (last answer " + span(*of.last_answer_ms + age_ms) + " ago)";
  return out + (of.why.empty() ? "" : ": " + of.why);
}

std::string why_not_known(const wire::election_report& of, std::int64_t age_ms) {
  std::string out = store_trouble(of.store, age_ms);
  if (!out.empty()) return out;
  return of.store.why.empty() ? "the agent has not seen it yet" : of.store.why;
}

std::string doubt_text(const std::vector<wire::election_report>& all) {
  const auto is_known = [](const wire::election_report& one) { return one.holder_known; };
  const auto first = std::ranges::find(all, false, is_known);
  if (first == all.end()) return {};
  const auto count = std::ranges::count(all, false, is_known);
  std::string out = "cannot tell who holds " + first->election;
  if (count > 1) out += " and " + std::to_string(count - 1) + " more";
  return out + ": " + why_not_known(*first);
}

const core::holder* holder_named(const wire::election_report& in, const std::string& identity) {
  const auto found = std::ranges::find(in.holders, identity, &core::holder::identity);
  return found == in.holders.end() ? nullptr : &*found;
}

std::string state_word(const wire::election_report& of) {
  return of.state == "candidate" ? "standby" : of.state;
}

std::string text(core::version version) {
  return std::to_string(core::number(version));
}

std::string unhealthy_text(const wire::election_report& of) {
  if (!of.health || of.health->state != core::health::unhealthy) return {};
  return of.health->reason.empty() ? "its health check failed" : of.health->reason;
}

std::optional<std::int64_t> since_ms(const wire::election_report& of) {
  if (!of.since_unix_ms || !of.as_of_unix_ms) return std::nullopt;
  return std::max<std::int64_t>(*of.as_of_unix_ms - *of.since_unix_ms, 0);
}

}  // namespace tenure::cli
