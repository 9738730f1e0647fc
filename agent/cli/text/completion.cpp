#include "cli/text/completion.hpp"

#include <algorithm>
#include <utility>

#include "cli/commands.hpp"

namespace tenure::cli {
namespace {

constexpr std::string_view help_word = "--help";

/// The words before the cursor, parsed.
struct line_so_far {
  const command* verb = nullptr;
  std::vector<option> flags;           ///< the verb's flags
  std::vector<std::string_view> used;  ///< flags that were given
  std::optional<std::string> api;
  std::optional<option> open;  ///< a flag that needs its value next
  std::size_t words = 0;       ///< the verb's own arguments given so far
  bool behind_dashes = false;  ///< after `--`
  std::size_t of_command = 0;  ///< words after the dashes
};

const option* flag_named(const std::vector<option>& flags, std::string_view name) {
  const auto found = std::ranges::find_if(
      flags, [name](const option& o) { return o.name == name || o.also == name; });
  return found == flags.end() ? nullptr : &*found;
}

void take(line_so_far& so_far, const std::string& word) {
  if (so_far.behind_dashes) {
    ++so_far.of_command;
  } else if (so_far.open) {
    if (so_far.open->name == "--api") so_far.api = word;
    so_far.open.reset();
  } else if (word == "--") {
    so_far.behind_dashes = true;
  } else if (!word.starts_with('-')) {
    ++so_far.words;
  } else {
    const std::size_t equals = std::min(word.find('='), word.size());
    const option* const flag = flag_named(so_far.flags, std::string_view(word).substr(0, equals));
    if (flag == nullptr) return;
    so_far.used.push_back(flag->name);
    if (!flag->has_value()) return;
    if (equals == word.size()) {
      so_far.open = *flag;
    } else if (flag->name == "--api") {
      so_far.api = word.substr(equals + 1);
    }
  }
}

class completer {
 public:
  completer(const line_so_far& so_far, const election_source& elections)
      : so_far_(so_far), elections_(elections) {}

  suggestions of(const std::string& word) const {
    if (so_far_.behind_dashes) {
      if (so_far_.verb->rest.empty()) return {};
      return {.what = so_far_.of_command == 0 ? offer::commands : offer::files};
    }
    if (so_far_.open) return values(*so_far_.open, word, "");
    const std::size_t equals = word.find('=');
    if (word.starts_with("--") && equals != std::string::npos) {
      const option* const flag =
          flag_named(so_far_.flags, std::string_view(word).substr(0, equals));
      if (flag == nullptr || !flag->has_value()) return {};
      return values(*flag, word.substr(equals + 1), word.substr(0, equals + 1));
    }
    const option* const next = word.starts_with('-') ? nullptr : next_word();
    return next != nullptr ? values(*next, word, "") : flags(word);
  }

 private:
  /// The verb's next argument that no flag has set; nullptr if there is none.
  const option* next_word() const {
    std::size_t given = so_far_.words;
    for (const option& one : so_far_.verb->words) {
      const bool by_flag = std::ranges::find(so_far_.used, one.also) != so_far_.used.end();
      if (by_flag) continue;
      if (given == 0) return &one;
      --given;
    }
    return nullptr;
  }

  suggestions flags(const std::string& word) const {
    suggestions out;
    for (const option& flag : so_far_.flags) {
      const bool again =
          flag.repeatable || std::ranges::find(so_far_.used, flag.name) == so_far_.used.end();
      if (again && flag.name.starts_with(word)) {
        out.words.push_back({.word = std::string(flag.name), .doc = flag.doc});
      }
    }
    if (help_word.starts_with(word)) {
      out.words.push_back({.word = std::string(help_word), .doc = "Show what this verb takes"});
    }
    if (!so_far_.verb->rest.empty() && std::string_view("--").starts_with(word)) {
      out.words.push_back({.word = "--", .doc = "The command follows"});
    }
    return out;
  }

  /// `before`: the part of the word before the value, "--output=".
  suggestions values(const option& of, const std::string& begun, const std::string& before) const {
    if (of.takes == value_kind::file && before.empty()) return {.what = offer::files};
    if (of.takes == value_kind::directory && before.empty()) return {.what = offer::directories};
    suggestions out;
    const auto add = [&](const std::string& value, std::string_view doc) {
      if (value.starts_with(begun)) out.words.push_back({.word = before + value, .doc = doc});
    };
    if (of.takes == value_kind::election) {
      for (const wire::election_report& e : elections_(so_far_.api)) add(e.election, "election");
    }
    if (of.takes == value_kind::verb) {
      for (const command& one : commands()) add(std::string(one.name), one.summary);
    }
    if (of.takes == value_kind::member) {
      for (const std::string& name : members()) add(name, "member");
    }
    for (const std::string_view word : of.words) {
      const std::string value(word);
      if (of.takes == value_kind::state && word.ends_with('=') && begun.starts_with(word)) {
        for (const std::string& name : members()) add(value + name, "member");
      } else {
        add(value, "");
      }
    }
    const bool goes_on = out.words.size() == 1 && out.words.front().word.ends_with('=');
    if (goes_on) out.what = offer::beginning;
    return out;
  }

  std::vector<std::string> members() const {
    std::vector<std::string> out;
    for (const wire::election_report& e : elections_(so_far_.api)) {
      if (!e.members) continue;
      for (const wire::member_report& m : *e.members) out.push_back(m.identity);
    }
    std::ranges::sort(out);
    out.erase(std::ranges::unique(out).begin(), out.end());
    return out;
  }

  const line_so_far& so_far_;
  const election_source& elections_;
};

suggestions verbs(const std::string& word) {
  suggestions out;
  for (const command& one : commands()) {
    if (one.name.starts_with(word)) {
      out.words.push_back({.word = std::string(one.name), .doc = one.summary});
    }
  }
  if (!word.starts_with('-')) return out;
  for (const std::string_view flag : {help_word, std::string_view("--version")}) {
    if (flag.starts_with(word)) out.words.push_back({.word = std::string(flag), .doc = ""});
  }
  return out;
}

}  // namespace

suggestions complete(std::span<const std::string> words, const election_source& elections) {
  if (words.empty()) return {};
  if (words.size() == 1) return verbs(words.front());
  line_so_far so_far;
  so_far.verb = command_named(words.front());
  if (so_far.verb == nullptr) return {};
  so_far.flags = flags_of(*so_far.verb);
  for (const std::string& word : words.subspan(1, words.size() - 2)) take(so_far, word);
  return completer(so_far, elections).of(words.back());
}

}  // namespace tenure::cli
