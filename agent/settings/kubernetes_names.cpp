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

std::string why_not_a_lease_name(std::string_view election) {
  if (election.size() > max_lease_name_bytes)
    return "it has more than " + std::to_string(max_lease_name_bytes) + " characters";
  constexpr const char* no_end = "it ends with a dot, or is empty";
  if (election.empty()) return no_end;
  const bool ends_with_dot = election.ends_with('.');
  if (!is_object_name(election.substr(0, election.size() - (ends_with_dot ? 1 : 0)))) {
    return "only small letters, digits, '-' and '.' may be in it, and each part between dots "
           "begins and ends with a letter or a digit";
  }
  if (ends_with_dot) return no_end;
  for (const std::string_view suffix : {slot_suffix, member_suffix}) {
    if (election.contains(suffix)) {
      return "\"" + std::string(suffix) + "\" in it is for Leases of other elections";
    }
  }
  return {};
}

}  // namespace tenure::settings
