#include "stores/sqlite/member_record.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

#include "base/number_text.hpp"
#include "stores/sqlite/columns.hpp"

namespace tenure::stores::sqlite {
namespace {

/// Each number is followed by a space, or by the end of the line.
constexpr std::size_t numbers = 5;
constexpr std::size_t digits = 20;
constexpr std::size_t half = numbers * (digits + 1);
/// A line of its own: earlier releases skip it, and would take a fourth word for an election.
constexpr std::string_view slots_prefix = "slots ";

/// Reads the rest of a text line by line.
class line_reader {
 public:
  explicit line_reader(std::string_view text) : left_(text) {}

  /// Nothing at the end, or if the last line is incomplete.
  std::optional<std::string_view> next() {
    const std::size_t end = left_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return line;
  }
  [[nodiscard]] bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

core::time_point bounded_instant(std::uint64_t ns) {
  constexpr auto latest = static_cast<std::uint64_t>(core::never.time_since_epoch().count());
  return core::time_point(core::duration(std::min(ns, latest)));
}

std::uint64_t count_of(core::time_point when) {
  return static_cast<std::uint64_t>(
      std::max(when.time_since_epoch(), core::duration::zero()).count());
}

std::optional<member_record> parse_record(std::string_view line) {
  if (line.size() + 1 != 2 * half) return std::nullopt;
  if (line.substr(0, half - 1) != line.substr(half)) return std::nullopt;
  std::array<std::uint64_t, numbers> found{};
  for (std::size_t i = 0; i < numbers; ++i) {
    const auto number = base::read_number<std::uint64_t>(line.substr(i * (digits + 1), digits));
    if (!number) return std::nullopt;
    found[i] = *number;
  }
  // Larger versions are never granted, as SQLite's integers are signed.
  if (core::version{found[3]} > largest_version) return std::nullopt;
  return member_record{.file = {.inode = found[0], .mark = found[1]},
                       .commits = found[2],
                       .newest = core::version{found[3]},
                       .until = bounded_instant(found[4])};
}

}  // namespace

std::string text_of(const member_record& record) {
  std::string once;
  for (const std::uint64_t number : {record.file.inode, record.file.mark, record.commits,
                                     core::number(record.newest), count_of(record.until)}) {
    std::array<char, digits + 2> text{};
    std::snprintf(text.data(), text.size(), "%0*llu ", static_cast<int>(digits),
                  static_cast<unsigned long long>(number));
    once += text.data();
  }
  std::string line = once + once;
  line.back() = '\n';
  return line;
}

std::string text_of(const member_page& page) {
  std::string text = text_of(page.record) + page.boot_id + "\n" +
                     std::to_string(count_of(page.started_at)) + "\n" + page.identity + "\n";
  for (const std::string& election : page.elections) text += election + "\n";
  return text;
}

std::optional<member_page> parse_page(std::string_view text) {
  line_reader lines(text);
  const auto record = parse_record(lines.next().value_or(""));
  const auto boot_id = lines.next();
  const auto started_at = base::read_number<std::uint64_t>(lines.next().value_or(""));
  const auto identity = lines.next();
  if (!record || !started_at || !identity || identity->empty()) return std::nullopt;
  member_page page{.record = *record,
                   .boot_id = std::string(*boot_id),
                   .started_at = bounded_instant(*started_at),
                   .identity = std::string(*identity),
                   .elections = {}};
  while (const auto election = lines.next()) page.elections.emplace_back(*election);
  return lines.at_end() ? std::optional(std::move(page)) : std::nullopt;
}

namespace {

/// `NUMBER ELECTION`, of an election whose readiness comes before.
void read_slots(std::string_view text, member_words& into) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return;
  const auto its = into.find(text.substr(blank + 1));
  const auto slots = base::read_number<std::uint32_t>(text.substr(0, blank));
  if (its != into.end() && slots) its->second.slots = *slots;
}

}  // namespace

std::string text_of(const member_words& all) {
  std::string text;
  for (const auto& [election, says] : all) {
    core::readiness as_before = says;
    as_before.slots = 0;
    text += readiness_text(as_before) + " " + election + "\n";
    if (says.slots > 0) {
      text.append(slots_prefix).append(std::to_string(says.slots) + " " + election + "\n");
    }
  }
  return text;
}

member_words parse_words(std::string_view text) {
  constexpr int blanks_before_the_name = 3;
  member_words out;
  line_reader lines(text);
  while (const auto line = lines.next()) {
    if (line->starts_with(slots_prefix)) {
      read_slots(line->substr(slots_prefix.size()), out);
      continue;
    }
    std::size_t end = 0;
    for (int i = 0; i < blanks_before_the_name && end != std::string_view::npos; ++i) {
      end = line->find(' ', i == 0 ? 0 : end + 1);
    }
    if (end == std::string_view::npos) continue;
    const auto says = parse_readiness(line->substr(0, end));
    if (says) out.insert_or_assign(std::string(line->substr(end + 1)), *says);
  }
  return out;
}

}  // namespace tenure::stores::sqlite
