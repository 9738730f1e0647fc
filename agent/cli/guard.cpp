#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.hpp"
#include "config/values.hpp"
#include "runtime/exit_status.hpp"
#include "workload/guard_process.hpp"

namespace tenure::cli {
namespace {

/// Marks arguments that were checked: `tenure guard --checked DIR DRAIN SIGNAL USER -- COMMAND`.
constexpr std::string_view checked_mark = "--checked";
constexpr std::size_t checked_words = 7;  ///< up to the mark of the command
constexpr std::string_view nobody_else = "-";

int complain(const std::string& what) {
  std::fprintf(stderr, "tenure guard: %s; see tenure guard --help\n", what.c_str());
  return runtime::exit_bad_settings;
}

template <class T>
std::string wrong(const char* flag, const config::parsed<T>& value) {
  return std::string(flag) + " " + value.error().what + "; " + value.error().suggestion;
}

}  // namespace

/// The guard must stay small, so what has checked its arguments is replaced by a process that has
/// not.
int run_guard(const invocation& what, int argc, const char* const* argv) {
  const guard_arguments& given = what.guard;
  const auto directory = config::parse_path(given.directory);
  if (!directory) return complain(wrong("--dir", directory));
  const auto drain = config::parse_duration(given.drain);
  if (!drain) return complain(wrong("--drain", drain));
  const auto signal =
      config::parse_value(config::field_of(config::setting::stop_signal), given.stop_signal);
  if (!signal) return complain(wrong("--stop-signal", signal));
  std::string user(nobody_else);
  if (given.agent_uid) {
    const auto uid = config::parse_integer(*given.agent_uid, 0, max_user_id);
    if (!uid) return complain(wrong("--agent-uid", uid));
    user = std::to_string(*uid);
  }
  std::vector<std::string> words{
      "tenure",
      "guard",
      std::string(checked_mark),
      *directory,
      std::to_string(drain->count()),
      std::to_string(config::signal_number(std::get<std::string>(*signal))),
      user};
  for (int i = separator(argc, argv); i < argc; ++i) words.emplace_back(argv[i]);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv("/proc/self/exe", pointers.data());
  std::perror("tenure guard: cannot execute /proc/self/exe; is /proc mounted?");
  return workload::exit_guard_unusable;
}

std::optional<int> become_guard_with_a_door(int argc, const char* const* argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() <= checked_words + 1 || words[2] != checked_mark ||
      words[checked_words] != "--") {
    return std::nullopt;
  }
  workload::guard_options options;
  options.door.directory = words[3];
  options.drain = core::duration(std::atoll(words[4].c_str()));
  options.stop_signal = std::atoi(words[5].c_str());
  if (words[6] != nobody_else) {
    options.door.agent_uid = static_cast<uid_t>(std::strtoul(words[6].c_str(), nullptr, 10));
  }
  options.command.assign(words.begin() + checked_words + 1, words.end());
  return workload::run_guard(options);
}

}  // namespace tenure::cli
