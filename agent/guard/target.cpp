#include "guard/target.hpp"

#include <algorithm>

#include "base/number_text.hpp"

namespace tenure::guard {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view without_blanks_at_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(blanks);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

std::string_view noun(settings::target::kind by) {
  switch (by) {
    case settings::target::kind::executable:
      return "executable";
    case settings::target::kind::command_line:
      return "command line";
    case settings::target::kind::pid_file:
      return "pid file";
  }
  return {};
}

bool executable_matches(std::string_view link, std::string_view wanted) {
  constexpr std::string_view replaced = " (deleted)";
  if (link.ends_with(replaced)) link.remove_suffix(replaced.size());
  if (wanted.empty()) return false;
  if (!wanted.contains('/')) link.remove_prefix(link.rfind('/') + 1);
  return link == wanted;
}

bool command_line_matches(std::string_view arguments, std::string_view wanted) {
  wanted = without_blanks_at_end(wanted);
  if (wanted.empty() || arguments.size() < wanted.size()) return false;
  const auto as_shown = [](char c) { return c == '\0' ? ' ' : c; };
  const auto same = [&](char theirs, char ours) { return as_shown(theirs) == ours; };
  if (!std::ranges::equal(arguments.substr(0, wanted.size()), wanted, same)) return false;
  return arguments.size() == wanted.size() || as_shown(arguments[wanted.size()]) == ' ';
}

std::expected<pid_t, pid_file_fault> read_pid_file(std::string_view text) {
  text = without_blanks_at_end(text.substr(0, text.find('\n', text.find_first_not_of(blanks))));
  if (text.find_first_not_of(blanks) == std::string_view::npos) {
    return std::unexpected(pid_file_fault::empty);
  }
  text.remove_prefix(text.find_first_not_of(blanks));
  const auto pid = base::read_number<pid_t>(text);
  if (!pid || *pid <= 0) return std::unexpected(pid_file_fault::no_number);
  return *pid;
}

}  // namespace tenure::guard
