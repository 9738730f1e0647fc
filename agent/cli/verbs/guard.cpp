#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_check.hpp"
#include "cli/text/checked_words.hpp"
#include "cli/text/print.hpp"
#include "cli/text/variable.hpp"
#include "cli/verbs.hpp"
#include "config/values.hpp"
#include "guard/guard_process.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

/// Directory, drain, signal and user.
constexpr std::size_t checked_count = 4;
constexpr std::string_view nobody_else = "-";

int complain(const std::string& what) {
  std::fprintf(stderr, "tenure guard: %s; see tenure guard --help\n", what.c_str());
  return runtime::exit_bad_settings;
}

}  // namespace

int run_guard(const invocation& what, int argc, const char* const* argv) {
  const auto given = [&what](std::string_view flag, const std::string& fallback) {
    return what.value(flag).value_or(fallback);
  };
  if (what.has("--probe")) return probe_workload(what, argv + separator(argc, argv) + 1);
  const std::string where = given("--dir", variable("TENURE_GUARD_DIR").value_or(""));
  if (where.empty()) {
    return complain("no directory; give --dir DIR, the one that is shared with the agent");
  }
  const auto directory = config::parse_path(where);
  if (!directory) return complain(wrong_value("--dir", directory.error()));
  const auto drain = config::parse_duration(given("--drain", "20s"));
  if (!drain) return complain(wrong_value("--drain", drain.error()));
  const auto signal = config::parse_value(config::field_of(config::setting::stop_signal),
                                          given("--stop-signal", "TERM"));
  if (!signal) return complain(wrong_value("--stop-signal", signal.error()));
  std::string user(nobody_else);
  if (const auto uid_text = what.value("--agent-uid")) {
    const auto uid = config::parse_integer(*uid_text, 0, config::max_user_id);
    if (!uid) return complain(wrong_value("--agent-uid", uid.error()));
    user = std::to_string(*uid);
  }
  const char* const* const command = argv + separator(argc, argv) + 1;
  if (const auto status = refuse_command("guard", *command)) return *status;
  const std::string number = std::to_string(config::signal_number(std::get<std::string>(*signal)));
  return run_checked("guard", {.words = {*directory, std::to_string(drain->count()), number, user},
                               .rest = {command, argv + argc}});
}

std::optional<int> become_guard_with_socket(int argc, const char* const* argv) {
  auto given = take_checked(argc, argv, checked_count);
  if (!given) return std::nullopt;
  const std::vector<std::string>& words = given->words;
  guard::guard_options options;
  guard::guard_listener::options socket{.directory = words[0]};
  options.drain = core::duration(std::atoll(words[1].c_str()));
  options.stop_signal = std::atoi(words[2].c_str());
  if (words[3] != nobody_else) {
    socket.agent_uid = static_cast<uid_t>(std::strtoul(words[3].c_str(), nullptr, 10));
  }
  options.agents = std::move(socket);
  options.command = std::move(given->rest);
  return guard::run_guard(options);
}

}  // namespace tenure::cli
