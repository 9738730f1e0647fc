#include <algorithm>
#include <cstdio>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/invocation.hpp"
#include "cli/text/help.hpp"
#include "cli/text/print.hpp"
#include "cli/version.hpp"
#include "config/fields.hpp"
#include "config/problem.hpp"
#include "config/suggest.hpp"
#include "core/check.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

constexpr std::string_view output_flag = "--output";
constexpr std::string_view see_help = "; see tenure help";

bool asks_for_help(std::string_view word) {
  return word == "-h" || word == "--help";
}

/// "; did you mean X?", or nothing.
std::string meant(std::string_view given, const std::vector<std::string_view>& known) {
  const std::string_view best = config::closest(given, known);
  return best.empty() ? "" : "; did you mean " + std::string(best) + "?";
}

/// "--api=URL", "-o=json" and "-ojson", split.
struct flag_word {
  std::string_view name;
  std::optional<std::string_view> value;
};

flag_word split(std::string_view word) {
  if (!word.starts_with("--")) {
    constexpr std::size_t short_name = 2;
    flag_word out{.name = word.substr(0, short_name), .value = {}};
    if (word.size() > short_name) out.value = word.substr(word[short_name] == '=' ? 3 : short_name);
    return out;
  }
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {.name = word, .value = {}};
  return {.name = word.substr(0, equals), .value = word.substr(equals + 1)};
}

const option* named(std::span<const option> those, std::string_view name) {
  const auto found = std::ranges::find_if(
      those, [name](const option& o) { return o.name == name || o.also == name; });
  return found == those.end() ? nullptr : &*found;
}

/// Reads the words after a verb. Each step returns an error, or an empty text. Lives for one call
/// of `parse`.
class verb_reader {
 public:
  verb_reader(const command& of, std::span<const char* const> words, invocation& into)
      : of_(of), left_(words), into_(into), own_(own_flags_of(of)) {
    if (of.has_settings) settings_ = setting_flags();
  }

  std::string read() {
    while (!left_.empty()) {
      const std::string_view word = take();
      std::string wrong;
      if (word.size() > 1 && word.starts_with('-')) {
        wrong = take_flag(split(word));
      } else {
        words_.push_back(word);
      }
      if (!wrong.empty()) return wrong;
    }
    return name_words();
  }

 private:
  std::string_view take() {
    const std::string_view word = left_.front();
    left_ = left_.subspan(1);
    return word;
  }

  std::string take_flag(const flag_word& given) {
    if (const option* const own = named(own_, given.name)) return take_own(*own, given);
    if (const option* const setting = named(settings_, given.name)) {
      return take_setting(*setting, given);
    }
    if (!of_.has_settings) {
      std::vector<std::string_view> known;
      for (const option& o : own_) known.push_back(o.name);
      return "unknown option " + std::string(given.name) + meant(given.name, known);
    }
    // Passed on to `config::load`, which reports it together with all other mistakes. The next word
    // may be a secret, and is not repeated.
    unknown_ = given.name;
    into_.flags.emplace_back(given.name, "");
    if (!given.value && !left_.empty() && !std::string_view(left_.front()).starts_with('-')) take();
    return {};
  }

  std::string take_own(const option& which, const flag_word& given) {
    if (!which.has_value()) {
      if (given.value) return std::string(which.name) + " takes no value";
      into_.given.emplace_back(which.name, "");
      return {};
    }
    std::string value;
    if (std::string wrong = take_value(which, given, value); !wrong.empty()) return wrong;
    return keep(which, std::move(value));
  }

  std::string take_setting(const option& which, const flag_word& given) {
    if (!which.has_value()) {
      into_.flags.emplace_back(which.name, given.value.value_or("true"));
      return {};
    }
    std::string value;
    if (std::string wrong = take_value(which, given, value); !wrong.empty()) return wrong;
    if (which.name != config::config_flag) {
      into_.flags.emplace_back(which.name, std::move(value));
      return {};
    }
    if (into_.config_path) return std::string(which.name) + " is given twice; remove one";
    into_.config_path = std::move(value);
    return {};
  }

  std::string take_value(const option& which, const flag_word& given, std::string& value) {
    if (given.value) {
      value = *given.value;
      return {};
    }
    const bool is_there = !left_.empty() && (std::string_view(left_.front()) == "-" ||
                                             !std::string_view(left_.front()).starts_with('-'));
    if (!is_there) {
      return std::string(given.name) + " needs a value; one that begins with - is given as " +
             std::string(which.name) + "=VALUE";
    }
    value = take();
    return {};
  }

  /// Stores an argument of the verb, or the value of one of its own flags.
  std::string keep(const option& which, std::string value) {
    // An argument that also has a flag is stored as the argument.
    const option* const word = named(of_.words, which.name);
    const std::string name(word != nullptr ? word->name : which.name);
    if (!which.repeatable && into_.has(name)) return name + " is given twice; remove one";
    if (which.takes == value_kind::word &&
        std::ranges::find(which.words, value) == which.words.end()) {
      const std::string hint = config::did_you_mean(value, which.words);
      return name + " is " + settings::quote(value) + "; " +
             (hint.empty() ? "use " + config::choices(which.words) : hint);
    }
    if (name == output_flag && value == "json") into_.output = output_form::json;
    into_.given.emplace_back(name, std::move(value));
    return {};
  }

  /// Assigns the words without a flag to the verb's arguments.
  std::string name_words() {
    std::size_t next = 0;
    for (const option& one : of_.words) {
      if (next == words_.size()) break;
      if (into_.has(one.name)) continue;
      if (std::string wrong = keep(one, std::string(words_[next++])); !wrong.empty()) return wrong;
    }
    if (next == words_.size()) return {};
    const std::string word =
        unknown_.empty() ? settings::quote(words_[next]) : "word behind " + unknown_;
    return "unexpected " + word + (of_.rest.empty() ? "" : "; the command to run goes behind --");
  }

  const command& of_;
  std::span<const char* const> left_;
  invocation& into_;
  std::vector<option> own_;
  std::vector<option> settings_;
  std::vector<std::string_view> words_;
  std::string unknown_;  ///< the last flag that the verb does not have
};

/// "the next holder", of "The next holder".
std::string in_sentence(std::string_view doc) {
  std::string out(doc);
  if (out.front() >= 'A' && out.front() <= 'Z') out.front() = static_cast<char>(out.front() | ' ');
  return out;
}

/// The required arguments that are missing; empty if there are none.
std::string missing(const command& of, const invocation& what, bool has_command) {
  for (const auto& from : {of.words, of.flags}) {
    for (const option& one : from) {
      if (!one.required || what.has(one.name)) continue;
      if (!one.words.empty()) {
        return "no " + std::string(one.name) + " is given: " + config::choices(one.words);
      }
      return std::string(one.name) + " is missing" +
             (one.doc.empty() ? "" : ": " + in_sentence(one.doc));
    }
  }
  if (!of.rest.empty() && !has_command) return "no command to run; give it behind --";
  return {};
}

int report_misuse(const command& of, const std::string& what, std::string_view example = {}) {
  const std::string name(of.name);
  print_failure(name, what);
  if (!example.empty()) std::fprintf(stderr, "for example: %s\n", example.data());
  std::fprintf(stderr, "see tenure help %s\n", name.c_str());
  return runtime::exit_bad_settings;
}

bool knows(std::string_view verb, std::string_view name) {
  const command* const of = command_named(verb);
  return of != nullptr && (named(of->words, name) != nullptr || named(of->flags, name) != nullptr);
}

}  // namespace

int report_unknown_verb(std::string_view given) {
  std::vector<std::string_view> known;
  for (const command& one : commands()) known.push_back(one.name);
  const std::string hint = config::did_you_mean(given, known);
  print_failure("", "there is no verb " + settings::quote(given) +
                        (hint.empty() ? std::string(see_help) : "; " + hint));
  return runtime::exit_bad_settings;
}

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
  const auto words = std::span(argv, static_cast<std::size_t>(own)).subspan(1);
  if (words.empty()) {
    std::fputs(program_help(help_columns()).c_str(), stderr);
    return std::unexpected(runtime::exit_bad_settings);
  }
  const std::string_view first = words.front();
  if (asks_for_help(first)) {
    std::fputs(program_help(help_columns()).c_str(), stdout);
    return std::unexpected(runtime::exit_ok);
  }
  if (first == "--version") {
    std::puts(version_line().c_str());
    return std::unexpected(runtime::exit_ok);
  }
  if (first.starts_with('-')) {
    print_failure("", "unknown option " + std::string(first) + std::string(see_help));
    return std::unexpected(runtime::exit_bad_settings);
  }
  const command* const of = command_named(first);
  if (of == nullptr) return std::unexpected(report_unknown_verb(first));
  if (std::ranges::any_of(words.subspan(1), asks_for_help)) {
    std::fputs(help_of(*of, help_columns()).c_str(), stdout);
    return std::unexpected(runtime::exit_ok);
  }
  invocation out;
  out.verb = of->name;
  if (const std::string wrong = verb_reader(*of, words.subspan(1), out).read(); !wrong.empty()) {
    return std::unexpected(report_misuse(*of, wrong));
  }
  if (of->rest.empty() && own < argc) {
    return std::unexpected(report_misuse(
        *of, "takes no command behind --; did you mean tenure exec or tenure guard?"));
  }
  if (const std::string lack = missing(*of, out, own + 1 < argc); !lack.empty()) {
    return std::unexpected(report_misuse(*of, lack, of->example));
  }
  return out;
}

}  // namespace tenure::cli
