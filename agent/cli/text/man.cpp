#include "cli/text/man.hpp"

#include <cstdio>
#include <sstream>
#include <string_view>

#include "base/list_text.hpp"
#include "cli/commands.hpp"
#include "cli/verbs.hpp"
#include "cli/version.hpp"
#include "config/fields.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

/// What diff and lint show without cutting.
constexpr std::size_t line_bytes = 78;

/// Breaks lines of text at blanks; lines of examples stay unchanged.
std::string folded(const std::string& page) {
  std::string out;
  bool as_is = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line == ".EX" || line == ".EE") as_is = line == ".EX";
    while (!as_is && !line.starts_with('.') && line.size() > line_bytes) {
      const std::size_t blank = line.rfind(' ', line_bytes);
      if (blank == std::string::npos) break;
      out += line.substr(0, blank) + "\n";
      line.erase(0, blank + 1);
      // At the start of a line these would be roff requests.
      if (line.starts_with('.') || line.starts_with('\'')) line.insert(0, "\\&");
    }
    out += line + "\n";
  }
  return out;
}

/// Text in which roff finds no requests.
std::string plain(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '-':
        out += "\\-";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + plain(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + plain(text) + "\\fR";
}

std::string flag_text(const option& one) {
  std::string out = one.is_flag() ? bold(one.name) : italic(one.name);
  if (!one.also.empty()) out += ", " + bold(one.also);
  if (!one.metavar.empty()) out += " " + italic(one.metavar);
  return out;
}

std::string paragraph(const std::string& heading, const std::string& text) {
  return ".TP\n" + heading + "\n" + text + "\n";
}

std::string option_text(const option& one) {
  std::string text = plain(one.doc) + ".";
  if (one.takes == value_kind::word) text += " One of " + base::listed(one.words, bold) + ".";
  if (one.repeatable) text += " May be given more than once.";
  return paragraph(flag_text(one), text);
}

std::string synopsis(const command& of) {
  std::string out = bold("tenure") + " " + bold(of.name);
  if (of.has_settings || !of.flags.empty()) out += " [" + italic("OPTIONS") + "]";
  for (const option& word : of.words) {
    out += word.required ? " " + italic(word.name) : " [" + italic(word.name) + "]";
  }
  if (!of.rest.empty()) out += " " + bold("--") + " " + italic(of.rest);
  return out;
}

std::string command_text(const command& of) {
  std::string out =
      ".SS " + std::string(of.name) + "\n" + synopsis(of) + "\n.PP\n" + plain(of.summary) + ".\n";
  if (of.has_settings) out += ".PP\nTakes every setting of the section SETTINGS as an option.\n";
  for (const auto& from : {of.words, of.flags}) {
    for (const option& one : from) out += option_text(one);
  }
  if (!of.notes.empty()) out += ".PP\n" + plain(of.notes) + "\n";
  out += ".PP\nExit statuses:\n";
  for (const exit_meaning& s : of.statuses) {
    out += paragraph(bold(std::to_string(s.status)), plain(s.means) + ".");
  }
  return out;
}

std::string setting_text(const config::field& f) {
  std::string heading = f.flag.empty() ? bold(f.key) : bold(f.flag);
  if (!f.metavar.empty()) heading += " " + italic(f.metavar);
  std::string text = plain(f.doc) + ".\n";
  if (!f.words.empty()) text += "One of " + base::listed(f.words, bold) + ".\n";
  text += f.fallback.empty() ? "Default: " + plain(f.derivation) + ".\n"
                             : "Default: " + bold(f.fallback) + ".\n";
  text += f.environment.empty() ? "In the file only." : "Variable: " + bold(f.environment) + ".";
  return paragraph(heading, text);
}

std::string settings_text() {
  std::string out =
      ".SH SETTINGS\nA flag wins over the environment, the environment over the file "
      "of " +
      bold(config::config_flag) + " or " + bold(config::config_environment) +
      ", and the file over the default. In the file, a setting has the name of its "
      "flag, with \\(dq_\\(dq for \\(dq\\-\\(dq.\n";
  const config::field* before = nullptr;
  for (const config::field& f : config::fields()) {
    if (before == nullptr || before->section != f.section) {
      out += ".SS " + std::string(config::title(f.section)) + "\n";
    }
    out += setting_text(f);
    before = &f;
  }
  return out;
}

std::string environment_text() {
  std::string out = ".SH ENVIRONMENT\nBesides the variables of settings:\n";
  out += paragraph(bold("TENURE_API"), "The agent that is asked without " + bold("--api") + ".");
  out += paragraph(bold("TENURE_ELECTION"),
                   "The election that is meant if none is named, unless it lists several.");
  out += paragraph(bold("TENURE_CONTROL_TOKEN_FILE"),
                   "The file of the control token without " + bold("--token-file") + ".");
  out += paragraph(bold("NO_COLOR"), "If it is set and not empty, nothing is coloured.");
  return out;
}

std::string examples_text() {
  std::string out = ".SH EXAMPLES\n";
  for (const command& of : commands()) {
    if (!of.example.empty()) out += ".EX\n" + plain(of.example) + "\n.EE\n";
  }
  return out;
}

}  // namespace

std::string manual_page() {
  std::string out = ".\\\" Made by: tenure man\n.TH TENURE 1 \"\" \"tenure " +
                    facts_of_build().version + "\" \"User Commands\"\n";
  out += ".SH NAME\ntenure \\- runs a workload active/standby\n";
  out += ".SH SYNOPSIS\n" + bold("tenure") + " " + italic("COMMAND") + " [" + italic("OPTIONS") +
         "]\n.br\n" + bold("tenure") + " " + bold("--version") + "\n.br\n" + bold("tenure") + " [" +
         italic("COMMAND") + "] " + bold("--help") + "\n";
  out += ".SH DESCRIPTION\n" + plain(program_summary) +
         ". Members that name the same election in the same store compete for its lease; a store "
         "is one that runs anyway. Each term has a version, which is larger than all before it: "
         "a resource can use it to refuse what a former holder writes.\n";
  out += ".SH COMMANDS\n";
  for (const command& of : commands()) out += command_text(of);
  return folded(out + settings_text() + environment_text() + examples_text());
}

int run_man(const invocation&) {
  std::fputs(manual_page().c_str(), stdout);
  return runtime::exit_ok;
}

}  // namespace tenure::cli
