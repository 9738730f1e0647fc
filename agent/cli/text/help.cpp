#include "cli/text/help.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ranges>
#include <string_view>
#include <vector>

#include "cli/verbs.hpp"
#include "config/fields.hpp"
#include "config/suggest.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

constexpr std::size_t least_columns = 80;
constexpr std::size_t most_columns = 100;
/// The columns in which the texts of flags, of verbs and of statuses begin.
constexpr std::size_t beside_flags = 30;
constexpr std::size_t beside_verbs = 14;
constexpr std::size_t beside_statuses = 7;

/// Wraps text to this width; each line but the first is indented by `indent` blanks.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (const auto part : text | std::views::split(' ')) {
    const std::string_view word(part.begin(), part.end());
    const bool begins = column == indent;
    if (!begins && column + 1 + word.size() > columns) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else if (!begins) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

/// Adds a name and, beside it, its meaning.
void add_row(std::string& out, const std::string& name, std::string_view text, std::size_t beside,
             std::size_t columns) {
  std::string line = "  " + name;
  if (line.size() + 2 > beside) {
    out += line + "\n";
    line.clear();
  }
  line.resize(beside, ' ');
  out += line + wrapped(text, columns, beside);
}

/// Documents write names of settings in backticks.
std::string without_backticks(std::string_view text) {
  std::string out(text);
  std::erase(out, '`');
  return out;
}

std::string accepted(const config::field& f) {
  switch (f.type) {
    case config::field_type::word:
    case config::field_type::signal:
      return config::choices(f.words);
    case config::field_type::integer:
      return std::to_string(f.least) + " to " + std::to_string(f.most);
    case config::field_type::path:
      return {};
    default:
      return std::string(f.range);
  }
}

std::string text_of(const config::field& f) {
  std::string out(f.doc);
  if (const std::string values = accepted(f); !values.empty()) out += " (" + values + ")";
  const std::string_view usual = f.fallback.empty() ? f.derivation : f.fallback;
  if (!usual.empty()) out += " [" + std::string(usual) + "]";
  return without_backticks(out);
}

std::string name_of(const option& one) {
  std::string out(one.name);
  if (one.is_flag() && !one.also.empty()) out += ", " + std::string(one.also);
  if (!one.metavar.empty()) out += " " + std::string(one.metavar);
  return out;
}

std::string text_of(const option& one) {
  std::string out(one.doc);
  if (one.takes == value_kind::word) {
    // Before the default, which is in brackets at the end.
    out.insert(std::min(out.rfind(" ["), out.size()), " (" + config::choices(one.words) + ")");
  }
  if (!one.is_flag() && !one.also.empty()) out += "; or " + std::string(one.also);
  return out;
}

void add_options(std::string& out, std::string_view heading, std::span<const option> those,
                 std::size_t columns) {
  out.append("\n").append(heading).append(":\n");
  for (const option& one : those) {
    add_row(out, name_of(one), text_of(one), beside_flags, columns);
  }
}

void add_settings(std::string& out, std::size_t columns) {
  const config::field* before = nullptr;
  for (const config::field& f : config::fields()) {
    if (f.flag.empty()) continue;
    if (before == nullptr || before->section != f.section) {
      out.append("\n").append(config::title(f.section)).append(":\n");
    }
    const std::string value = f.metavar.empty() ? "" : " " + std::string(f.metavar);
    add_row(out, std::string(f.flag) + value, text_of(f), beside_flags, columns);
    before = &f;
  }
}

constexpr option help_flag{.name = "--help", .doc = "Print this", .also = "-h"};
constexpr option config_option{.name = config::config_flag,
                               .metavar = "FILE",
                               .doc = "Read settings from this YAML file [TENURE_CONFIG]"};

}  // namespace

std::size_t help_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return least_columns;
  return std::clamp<std::size_t>(size.ws_col, least_columns, most_columns);
}

std::string usage_of(const command& of) {
  std::string out = "tenure " + std::string(of.name) + " [OPTIONS]";
  for (const option& word : of.words) {
    out += word.required ? " " + std::string(word.name) : " [" + std::string(word.name) + "]";
  }
  if (!of.rest.empty()) out += " -- " + std::string(of.rest);
  return out;
}

std::string program_help(std::size_t columns) {
  std::string out = "Usage: tenure VERB [OPTIONS]\n\n";
  out += wrapped(std::string(program_summary) + ".", columns, 0);
  out += "\nVerbs:\n";
  for (const command& of : commands()) {
    add_row(out, std::string(of.name), of.summary, beside_verbs, columns);
  }
  const option version{.name = "--version", .doc = "Print the version"};
  add_options(out, "Options", std::array{help_flag, version}, columns);
  out += "\nTry it:\n  tenure demo\n\n";
  out += wrapped("tenure help VERB shows the options and exit statuses of a verb.", columns, 0);
  return out;
}

std::string help_of(const command& of, std::size_t columns) {
  std::string out = "Usage: " + usage_of(of) + "\n\n";
  out += wrapped(std::string(of.summary) + ".", columns, 0);
  if (!of.words.empty()) add_options(out, "Words", of.words, columns);
  std::vector<option> own = own_flags_of(of);
  if (of.has_settings) own.push_back(config_option);
  own.push_back(help_flag);
  add_options(out, "Options", own, columns);
  if (of.has_settings) add_settings(out, columns);
  if (!of.notes.empty()) out += "\n" + wrapped(of.notes, columns, 0);
  if (!of.example.empty()) out += "\nExample:\n  " + std::string(of.example) + "\n";
  out += "\nExit statuses:\n";
  for (const exit_meaning& s : of.statuses) {
    add_row(out, std::to_string(s.status), s.means, beside_statuses, columns);
  }
  return out;
}

int run_help(const invocation& what) {
  const auto verb = what.value("VERB");
  if (!verb) {
    std::fputs(program_help(help_columns()).c_str(), stdout);
    return runtime::exit_ok;
  }
  const command* const of = command_named(*verb);
  if (of == nullptr) return report_unknown_verb(*verb);
  std::fputs(help_of(*of, help_columns()).c_str(), stdout);
  return runtime::exit_ok;
}

}  // namespace tenure::cli
