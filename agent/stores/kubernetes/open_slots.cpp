#include "stores/kubernetes/open_slots.hpp"

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

#include "base/number_text.hpp"
#include "stores/records/record_words.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// No election comes to later ones by itself.
constexpr std::uint64_t last_epoch = std::numeric_limits<std::int64_t>::max();

}  // namespace

open_slots slots_around(std::vector<std::uint32_t> held, std::uint32_t how_many,
                        std::uint64_t epoch) {
  open_slots out{.epoch = epoch, .numbers = std::move(held)};
  std::ranges::sort(out.numbers);
  const std::vector<std::uint32_t> first = out.numbers;
  for (std::uint32_t slot = 0; out.numbers.size() < how_many; ++slot) {
    if (!std::ranges::binary_search(first, slot)) out.numbers.push_back(slot);
  }
  std::ranges::sort(out.numbers);
  return out;
}

std::string slots_text(const open_slots& what) {
  std::string out = std::to_string(what.epoch);
  for (const std::uint32_t slot : what.numbers) out.append(" ").append(std::to_string(slot));
  return out;
}

std::optional<open_slots> parse_slots(std::string_view text) {
  open_slots out;
  const auto words = words_of(text);
  const auto epoch = words.front().empty() ? std::nullopt : parse_epoch(words.front());
  if (!epoch || words.size() < 2) return std::nullopt;
  out.epoch = *epoch;
  for (const std::string_view word : words | std::views::drop(1)) {
    const auto slot = base::read_number<std::uint32_t>(word);
    if (!slot || (!out.numbers.empty() && *slot <= out.numbers.back())) return std::nullopt;
    out.numbers.push_back(*slot);
  }
  return out;
}

std::optional<std::uint64_t> parse_epoch(std::string_view text) {
  if (text.empty()) return 0;
  const auto epoch = base::read_number<std::uint64_t>(text);
  return epoch && *epoch <= last_epoch ? epoch : std::nullopt;
}

}  // namespace tenure::stores::kubernetes
