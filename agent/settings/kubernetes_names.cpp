#include "settings/kubernetes_names.hpp"

namespace tenure::settings {
namespace {

bool is_small_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string slot_name(std::string_view election, std::uint32_t slot) {
  std::string out(election);
  if (slot != 0) out.append(slot_suffix).append(std::to_string(slot));
  return out;
}

bool is_object_name(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_small_or_digit(text[i])) continue;
    const bool at_an_end = i == 0 || i + 1 == text.size();
    if (at_an_end || (text[i] != '-' && text[i] != '.')) return false;
    if (text[i] == '.' && !is_small_or_digit(text[i - 1])) return false;
    if (text[i] == '-' && text[i - 1] == '.') return false;
  }
  return true;
}

}  // namespace tenure::settings
