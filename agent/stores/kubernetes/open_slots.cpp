#include "stores/kubernetes/open_slots.hpp"

#include <algorithm>
#include <ranges>

#include "base/number_text.hpp"
#include "core/check.hpp"
#include "stores/records/record_words.hpp"

namespace tenure::stores::kubernetes {

open_slots first_slots(std::uint32_t how_many) {
  open_slots out;
  for (std::uint32_t slot = 0; slot < how_many; ++slot) out.numbers.push_back(slot);
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
  const auto epoch = base::read_number<std::uint64_t>(words.front());
  if (!epoch || words.size() < 2) return std::nullopt;
  out.epoch = *epoch;
  for (const std::string_view word : words | std::views::drop(1)) {
    const auto slot = base::read_number<std::uint32_t>(word);
    if (!slot || (!out.numbers.empty() && *slot <= out.numbers.back())) return std::nullopt;
    out.numbers.push_back(*slot);
  }
  return out;
}

open_slots resized(const open_slots& now, const std::vector<std::uint32_t>& held,
                   std::uint32_t how_many) {
  TENURE_CHECK(held.size() <= how_many);
  open_slots out{.epoch = now.epoch + 1, .numbers = held};
  for (std::uint32_t slot = 0; out.numbers.size() < how_many; ++slot) {
    if (std::ranges::find(held, slot) == held.end()) out.numbers.push_back(slot);
  }
  std::ranges::sort(out.numbers);
  return out;
}

}  // namespace tenure::stores::kubernetes
