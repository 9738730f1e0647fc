#include <cstdio>
#include <optional>
#include <string_view>

#include "base/random.hpp"
#include "cli/command_check.hpp"
#include "cli/verbs.hpp"
#include "guard/guard_process.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/run_agent.hpp"
#include "workload/guard_link.hpp"

namespace tenure::cli {
namespace {

bool asks_for_help(int argc, const char* const* argv) {
  for (int i = 2; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "-h" || arg == "--help") return true;
  }
  return false;
}

/// The first setting that requires finding the workload; empty if the workload is started.
std::string_view target_setting(const settings::agent& s) {
  if (!s.target.given()) return {};
  switch (s.target.by) {
    case settings::target::kind::executable:
      return "target_executable";
    case settings::target::kind::command_line:
      return "target_command_line";
    case settings::target::kind::pid_file:
      break;
  }
  return "target_pid_file";
}

/// Refuses a setting that this verb would ignore: somebody relies on it.
int refuse_target(const char* verb, std::string_view setting, const char* instead) {
  std::fprintf(stderr, "tenure %s: %s is given, but %s\n", verb, setting.data(), instead);
  return runtime::exit_bad_settings;
}

runtime::agent_options options_of(config::configuration loaded, bool started_by_guard) {
  std::vector<std::string> warnings;
  for (const config::problem& one : loaded.warnings) warnings.push_back(config::render(one));
  return {.settings = std::move(loaded),
          .warnings = std::move(warnings),
          .session = base::random_hex(16),
          .started_by_guard = started_by_guard};
}

}  // namespace

std::optional<int> become_guard(int argc, const char* const* argv) {
  if (workload::guard_link::in_environment()) return std::nullopt;
  const int own = separator(argc, argv);
  if (own + 1 >= argc || asks_for_help(own, argv)) return std::nullopt;
  if (const auto status = refuse_command("exec", argv[own + 1])) return status;
  guard::guard_options options;
  options.agents = guard::agent_argv(argv, argv + argc);
  options.command.assign(argv + own + 1, argv + argc);
  return guard::run_guard(options);
}

int run_exec_agent(const invocation& what) {
  auto settings = load_settings(what);
  if (!settings) return settings.error();
  if (settings->elections.size() != 1) {
    std::fprintf(stderr,
                 "tenure exec: one command belongs to one election, but %zu are configured; "
                 "give one --election, or use tenure agent\n",
                 settings->elections.size());
    return runtime::exit_bad_settings;
  }
  if (settings->observe) {
    std::fputs("tenure exec: an observer never runs its command; drop --observe\n", stderr);
    return runtime::exit_bad_settings;
  }
  if (!settings->guard_dir.empty()) {
    std::fputs(
        "tenure exec: --guard-dir is for tenure agent; exec is the guard of its own command\n",
        stderr);
    return runtime::exit_bad_settings;
  }
  if (const std::string_view named = target_setting(*settings); !named.empty()) {
    return refuse_target("exec", named, "the command after -- is the workload; remove one of them");
  }
  if (settings->hooks.any()) {
    std::fputs(
        "tenure exec: gain_* and stop_* are for tenure agent; exec starts and stops its command "
        "itself, so remove them\n",
        stderr);
    return runtime::exit_bad_settings;
  }
  return runtime::run_agent(options_of(std::move(*settings), true));
}

int run_agent(const invocation& what, int argc, const char* const* argv) {
  auto settings = load_settings(what);
  if (!settings) return settings.error();
  const bool has_guard_socket = !settings->guard_dir.empty();
  if (has_guard_socket && (settings->elections.size() != 1 || settings->observe)) {
    std::fputs(
        "tenure agent: --guard-dir is for a member of one election; give one --election, and no "
        "--observe\n",
        stderr);
    return runtime::exit_bad_settings;
  }
  const bool has_target = settings->target.given();
  if (const std::string_view named = target_setting(*settings); has_target && has_guard_socket) {
    return refuse_target("agent", named,
                         "the guard in --guard-dir starts the workload itself; remove one of them");
  }
  if (has_target && !workload::guard_link::in_environment()) {
    return guard_what_is_found(*settings, argc, argv);
  }
  return runtime::run_agent(options_of(std::move(*settings), has_target));
}

}  // namespace tenure::cli
