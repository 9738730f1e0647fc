#include "cli/text/knowledge.hpp"

#include <algorithm>

#include "cli/text/times.hpp"

namespace tenure::cli {

std::string as_of_text(const election_report& of, std::int64_t age_ms) {
  if (!of.holder_age_ms) return "not known";
  return "as of " + span(*of.holder_age_ms + age_ms) + " ago";
}

std::string store_trouble(const store_report& of, std::int64_t age_ms) {
  if (of.reachable) return {};
  std::string out = (of.kind.empty() ? "the store" : of.kind) + " does not answer";
  if (of.last_answer_ms) out += " (last answer " + span(*of.last_answer_ms + age_ms) + " ago)";
  return out + (of.why.empty() ? "" : ": " + of.why);
}

std::string why_not_known(const election_report& of, std::int64_t age_ms) {
  std::string out = store_trouble(of.store, age_ms);
  if (!out.empty()) return out;
  return of.store.why.empty() ? "the agent has not seen it yet" : of.store.why;
}

std::string doubt_text(const std::vector<election_report>& all) {
  const auto first = std::ranges::find(all, false, &election_report::holder_known);
  if (first == all.end()) return {};
  const auto count = std::ranges::count(all, false, &election_report::holder_known);
  std::string out = "cannot tell who holds " + first->election;
  if (count > 1) out += " and " + std::to_string(count - 1) + " more";
  return out + ": " + why_not_known(*first);
}

}  // namespace tenure::cli
