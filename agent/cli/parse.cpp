#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <ranges>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/invocation.hpp"
#include "cli/version.hpp"
#include "config/fields.hpp"
#include "core/check.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

constexpr std::string_view output_flag = "--output";
constexpr std::size_t note_columns = 88;

/// One row for each setting of the table; what a value means is decided by `config::load`, which
/// knows the file and the environment, too.
void add_settings(CLI::App& verb, invocation& into) {
  verb.add_option_function<std::string>(
          std::string(config::config_flag), [&into](const std::string& v) { into.config_path = v; },
          "Read settings from this YAML file")
      ->type_name("FILE");
  for (const config::field& f : config::fields()) {
    if (f.flag.empty()) continue;
    const std::string flag(f.flag);
    std::string text(f.doc);
    const std::string_view fallback = f.fallback.empty() ? f.derivation : f.fallback;
    if (!fallback.empty()) text += " [" + std::string(fallback) + "]";
    const std::string heading(config::title(f.section));
    if (f.type == config::field_type::boolean) {
      verb.add_flag_function(
              flag, [&into, flag](std::int64_t) { into.flags.emplace_back(flag, "true"); }, text)
          ->group(heading);
      continue;
    }
    CLI::Option* option = verb.add_option_function<std::vector<std::string>>(
        flag,
        [&into, flag](const std::vector<std::string>& values) {
          for (const std::string& v : values) into.flags.emplace_back(flag, v);
        },
        text);
    option->type_name(std::string(f.metavar))->group(heading)->expected(1)->allow_extra_args(false);
    if (f.repeatable()) option->take_all();
  }
}

void add_option(CLI::App& verb, const option& one, invocation& into) {
  const std::string name(one.name);
  const std::string names = name + (one.also.empty() ? "" : "," + std::string(one.also));
  const std::string doc(one.doc);
  if (!one.has_value()) {
    verb.add_flag_function(
        names, [&into, name](std::int64_t) { into.given.emplace_back(name, ""); }, doc);
    return;
  }
  CLI::Option* option = verb.add_option_function<std::vector<std::string>>(
      names,
      [&into, name](const std::vector<std::string>& values) {
        for (const std::string& v : values) into.given.emplace_back(name, v);
        if (name == output_flag && values.back() == "json") into.output = output_form::json;
      },
      doc);
  option->type_name(std::string(one.metavar))->expected(1)->allow_extra_args(false);
  if (one.repeatable) option->take_all();
  if (one.takes == value_kind::word) {
    option->check(CLI::IsMember(std::vector<std::string>(one.words.begin(), one.words.end())));
  }
}

std::string wrapped(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  for (const auto part : text | std::views::split(' ')) {
    const std::string_view word(part.begin(), part.end());
    if (column + word.size() + 1 > note_columns) {
      out += '\n';
      column = 0;
    }
    if (column != 0) out += ' ';
    out += word;
    column += word.size() + 1;
  }
  return out;
}

/// What stands below the flags in --help.
std::string footer(const command& of) {
  std::string out;
  if (!of.notes.empty()) out += wrapped(of.notes) + "\n\n";
  if (!of.example.empty()) out += "Example:\n  " + std::string(of.example) + "\n\n";
  out += "Exit statuses:\n";
  for (const exit_meaning& s : of.statuses) {
    const std::string number = std::to_string(s.status);
    out += "  " + number + std::string(5 - number.size(), ' ') + std::string(s.means) + "\n";
  }
  out.pop_back();
  return out;
}

void add_command(CLI::App& app, const command& of, invocation& into) {
  std::string summary(of.summary);
  if (!of.rest.empty()) {
    summary += ": " + std::string(of.name) + " [OPTIONS] -- " + std::string(of.rest);
  }
  CLI::App& verb = *app.add_subcommand(std::string(of.name), summary);
  verb.allow_extras();
  if (of.has_settings) add_settings(verb, into);
  for (const option& one : of.words) add_option(verb, one, into);
  for (const option& one : of.flags) add_option(verb, one, into);
  verb.footer(footer(of));
}

/// What the verb does not know goes to `config::load` with the rest, which names it together with
/// everything else that is wrong. False, with a word on stderr, if it cannot be a flag at all.
bool take_unknown(const CLI::App& verb, const command& of, invocation& into) {
  const std::vector<std::string> words = verb.remaining();
  std::string last_flag;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) {
      // Behind an unknown flag it may be a secret, and is not repeated.
      const std::string word = i == 0 ? "\"" + words[i] + "\"" : "word behind " + last_flag;
      std::fprintf(stderr, "tenure %s: unexpected %s%s\n", into.verb.c_str(), word.c_str(),
                   of.rest.empty() ? "" : "; the command to run goes behind --");
      return false;
    }
    const auto equals = words[i].find('=');
    const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with('-');
    last_flag = words[i].substr(0, equals);
    into.flags.emplace_back(last_flag, "");
    if (equals == std::string::npos && has_value) ++i;
  }
  return true;
}

/// What is wrong with this use of the verb; empty if nothing is.
std::string misuse(const command& of, const invocation& what, bool has_rest, bool has_command) {
  if (!of.has_settings && !what.flags.empty()) {
    return "unknown option " + what.flags.front().first;
  }
  for (const auto& from : {of.words, of.flags}) {
    for (const option& one : from) {
      if (!one.required || what.has(one.name)) continue;
      std::string out = "no " + std::string(one.name) + " is given";
      for (std::size_t i = 0; i < one.words.size(); ++i) {
        out += (i == 0 ? ": " : i + 1 == one.words.size() ? " or " : ", ");
        out += one.words[i];
      }
      return out;
    }
  }
  if (!of.rest.empty() && !has_command) return "no command to run; give it behind --";
  if (of.rest.empty() && has_rest) {
    return "takes no command behind --; did you mean tenure exec or tenure guard?";
  }
  return {};
}

int report_misuse(const command& of, const std::string& what) {
  std::fprintf(stderr, "tenure %s: %s", of.name.data(), what.c_str());
  if (of.example.empty()) {
    std::fprintf(stderr, "; see tenure %s --help\n", of.name.data());
  } else {
    std::fprintf(stderr, ", e.g.\n  %s\nsee tenure %s --help\n", of.example.data(), of.name.data());
  }
  return runtime::exit_bad_settings;
}

bool knows(std::string_view verb, std::string_view name) {
  const command* const of = command_named(verb);
  const auto in = [name](std::span<const option> those) {
    return std::ranges::find(those, name, &option::name) != those.end();
  };
  return of != nullptr && (in(of->words) || in(of->flags));
}

}  // namespace

bool invocation::has(std::string_view name) const {
  return value(name).has_value();
}

std::optional<std::string> invocation::value(std::string_view name) const {
  const std::vector<std::string> all = values(name);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

std::vector<std::string> invocation::values(std::string_view name) const {
  TENURE_CHECK(knows(verb, name));
  std::vector<std::string> out;
  for (const auto& [key, value] : given) {
    if (key == name) out.push_back(value);
  }
  return out;
}

int separator(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") return i;
  }
  return argc;
}

std::expected<invocation, int> parse(int argc, const char* const* argv) {
  const int own = separator(argc, argv);
  invocation out;
  CLI::App app{std::string(program_summary)};
  app.name("tenure");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_line());
  app.footer(
      "Try it: tenure exec --store sqlite --endpoint /tmp/demo.db --election demo -- sleep 60\n"
      "Each verb has its own --help, with the statuses that it ends with.");
  for (const command& of : commands()) add_command(app, of, out);

  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return std::unexpected(runtime::exit_bad_settings);
  }
  try {
    app.parse(own, argv);
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e, std::cout, std::cerr);
    return std::unexpected(status == 0 ? runtime::exit_ok : runtime::exit_bad_settings);
  }
  const CLI::App& verb = *app.get_subcommands().front();
  out.verb = verb.get_name();
  const command& of = *command_named(out.verb);
  if (!take_unknown(verb, of, out)) return std::unexpected(runtime::exit_bad_settings);
  if (const std::string wrong = misuse(of, out, own < argc, own + 1 < argc); !wrong.empty()) {
    return std::unexpected(report_misuse(of, wrong));
  }
  return out;
}

}  // namespace tenure::cli
