#include "stores/kubernetes/layout.hpp"

#include <algorithm>
#include <utility>

#include "base/digest.hpp"
#include "base/number_text.hpp"
#include "base/printable_text.hpp"
#include "base/time_text.hpp"
#include "stores/records/record_words.hpp"

namespace tenure::stores::kubernetes {
namespace {

using settings::member_suffix;
using settings::slot_suffix;

constexpr std::string_view mark_prefix = "tenure-";
/// Not the id of an order that was left: the name of an annotation has one '/' only.
constexpr std::string_view preference_prefix = "preferred/";
constexpr std::int64_t second_ms = 1000;
/// A clock that is ahead by more than this is wrong, and its times are not carried on.
constexpr std::int64_t most_ahead_ms = std::int64_t{24} * 3600 * second_ms;
/// "2026-01-31T12:00:00"
constexpr std::size_t whole_seconds_bytes = 19;
constexpr std::size_t millisecond_digits = 3;

std::optional<std::string_view> after(std::string_view election, std::string_view suffix,
                                      std::string_view name) {
  if (!name.starts_with(election)) return std::nullopt;
  name.remove_prefix(election.size());
  if (!name.starts_with(suffix)) return std::nullopt;
  return name.substr(suffix.size());
}

}  // namespace

std::optional<std::uint32_t> slot_named(std::string_view election, std::string_view name) {
  if (name == election) return 0;
  const auto number = after(election, slot_suffix, name);
  const auto slot = number ? base::read_number<std::uint32_t>(*number) : std::nullopt;
  return slot && *slot != 0 && slot_name(election, *slot) == name ? slot : std::nullopt;
}

std::string member_name(std::string_view election, std::string_view mark) {
  return std::string(election).append(member_suffix).append(mark);
}

bool is_member_name(std::string_view election, std::string_view name) {
  return after(election, member_suffix, name).has_value();
}

std::optional<std::string> order_in(std::string_view annotation) {
  if (!annotation.starts_with(order_annotations)) return std::nullopt;
  return std::string(annotation.substr(order_annotations.size()));
}

std::string order_note_text(const order_note& what) {
  return std::to_string(what.left_ms) + " " + what.order;
}

std::optional<order_note> parse_order_note(std::string_view text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const auto left_ms = base::read_number<std::int64_t>(text.substr(0, end));
  if (!left_ms || end == text.size()) return std::nullopt;
  return order_note{.left_ms = *left_ms, .order = std::string(text.substr(end + 1))};
}

std::string preference_id(std::string_view uid, std::uint64_t resource_version) {
  return std::string(preference_prefix)
      .append(uid)
      .append("/")
      .append(std::to_string(resource_version));
}

bool is_preference(std::string_view order_id) {
  return order_id.starts_with(preference_prefix);
}

std::string mark_of(std::string_view session_of_the_agent) {
  return std::string(mark_prefix) + base::hex(base::digest(session_of_the_agent));
}

std::string signature_text(const signature& what) {
  return base::printable(what.identity).append("_").append(what.mark);
}

signature parse_signature(std::string_view text) {
  const std::size_t joint = text.rfind('_');
  if (joint == std::string_view::npos || !text.substr(joint + 1).starts_with(mark_prefix)) {
    return {.identity = std::string(text)};
  }
  return {.identity = std::string(text.substr(0, joint)),
          .mark = std::string(text.substr(joint + 1))};
}

std::string term_text(const term_note& what) {
  return std::to_string(what.transitions) + " " + std::to_string(core::number(what.version)) + " " +
         what.mark + (what.released_ms ? " " + std::to_string(*what.released_ms) : "");
}

std::optional<term_note> parse_term(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() != 3 && words.size() != 4) return std::nullopt;
  const auto transitions = base::read_number<std::int64_t>(words[0]);
  const auto version = base::read_number<std::uint64_t>(words[1]);
  const auto released =
      words.size() == 4 ? base::read_number<std::int64_t>(words[3]) : std::nullopt;
  if (!transitions || !version || released.has_value() != (words.size() == 4)) return std::nullopt;
  return term_note{.transitions = *transitions,
                   .version = core::version{*version},
                   .mark = std::string(words[2]),
                   .released_ms = released};
}

std::optional<std::int64_t> read_micro_time(std::string_view text) {
  if (text.size() <= whole_seconds_bytes || !text.ends_with('Z')) return std::nullopt;
  std::string_view rest = text.substr(whole_seconds_bytes, text.size() - whole_seconds_bytes - 1);
  if (!rest.empty() && !rest.starts_with('.')) return std::nullopt;
  if (!rest.empty()) rest.remove_prefix(1);
  std::string decimals(rest.substr(0, millisecond_digits));
  decimals.resize(millisecond_digits, '0');
  return base::read_time(std::string(text.substr(0, whole_seconds_bytes)) + "." + decimals + "Z");
}

std::int64_t renewal_time(std::int64_t now_ms, std::int64_t last_ms) {
  const std::int64_t next_second = (last_ms / second_ms + 1) * second_ms;
  if (last_ms <= 0 || next_second > now_ms + most_ahead_ms) return now_ms;
  return std::max(now_ms, next_second);
}

}  // namespace tenure::stores::kubernetes
