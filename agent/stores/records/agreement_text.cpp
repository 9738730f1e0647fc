#include "stores/records/agreement_text.hpp"

#include <algorithm>
#include <cstdint>

#include "base/number_text.hpp"

namespace tenure::stores {
namespace {

constexpr std::string_view slots_word = "slots";
constexpr std::string_view versions_word = "versions_from";
constexpr std::string_view accepted_word = "accepted_unix_ms";

}  // namespace

std::string agreement_text(const core::agreement& what) {
  std::string out = std::string(slots_word) + "=" + std::to_string(what.slots);
  if (what.versions_from == core::no_version) return out;
  out.append(" ").append(versions_word).append("=");
  out.append(std::to_string(core::number(what.versions_from)));
  out.append(" ").append(accepted_word).append("=");
  return out.append(std::to_string(what.accepted_unix_ms));
}

std::optional<core::agreement> parse_agreement(std::string_view text) {
  core::agreement out;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    if (name == slots_word) {
      const auto slots = base::read_number<std::uint32_t>(value);
      if (!slots) return std::nullopt;
      out.slots = *slots;
    } else if (name == versions_word) {
      const auto from = base::read_number<std::uint64_t>(value);
      if (!from) return std::nullopt;
      out.versions_from = core::version{*from};
    } else if (name == accepted_word) {
      const auto at = base::read_number<std::int64_t>(value);
      if (!at) return std::nullopt;
      out.accepted_unix_ms = *at;
    }
  }
  return out.slots > 0 ? std::optional(out) : std::nullopt;
}

}  // namespace tenure::stores
