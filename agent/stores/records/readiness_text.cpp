#include "stores/records/readiness_text.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/number_text.hpp"
#include "stores/records/record_words.hpp"

namespace tenure::stores {
namespace {

constexpr std::size_t words_at_least = 3;
constexpr std::size_t slots_at = 4;
constexpr std::size_t answers_at = 5;

}  // namespace

std::string readiness_text(const core::readiness& what, std::string_view peer,
                           std::optional<std::uint64_t> answers) {
  std::string out = std::to_string(what.since_unix_ms) + " " + std::to_string(what.priority) + " " +
                    std::to_string(what.started_unix_ms);
  const bool has_slots = what.slots > 0 || answers;
  if (!peer.empty() || has_slots) out.append(" ").append(peer);
  if (has_slots) out.append(" ").append(std::to_string(what.slots));
  if (answers) out.append(" ").append(std::to_string(*answers));
  return out;
}

std::string peer_in(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  return words.size() > words_at_least ? std::string(words[words_at_least]) : std::string();
}

std::optional<std::uint64_t> answers_in(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  return words.size() > answers_at ? base::read_number<std::uint64_t>(words[answers_at])
                                   : std::nullopt;
}

std::optional<core::readiness> parse_readiness(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < words_at_least) return std::nullopt;
  const auto since = base::read_number<std::int64_t>(words[0]);
  const auto priority = base::read_number<std::int32_t>(words[1]);
  const auto started = base::read_number<std::int64_t>(words[2]);
  if (!since || !priority || !started || *since < 0 || *started < 0) return std::nullopt;
  const auto slots =
      words.size() > slots_at ? base::read_number<std::uint32_t>(words[slots_at]) : std::nullopt;
  return core::readiness{.since_unix_ms = *since,
                         .priority = *priority,
                         .started_unix_ms = *started,
                         .slots = slots.value_or(0)};
}

core::member member_with(std::string identity, const all_readiness& said, std::string_view name) {
  core::member out{.identity = std::move(identity)};
  if (const auto its = said.find(name); its != said.end()) out.says = its->second;
  return out;
}

}  // namespace tenure::stores
