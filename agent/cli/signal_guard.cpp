#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/target_of.hpp"
#include "workload/guard_process.hpp"
#include "workload/target_check.hpp"

/// Signal mode: the workload is in the container beside ours, and somebody else starts it.
namespace tenure::cli {
namespace {

/// `tenure agent --checked KIND VALUE STANDBY STOP GAIN -- ARGUMENTS`: what was read from file,
/// environment and flags, and the words of the agent.
constexpr std::string_view checked_mark = "--checked";
constexpr std::size_t checked_words = 8;  ///< up to the mark of the agent's own
constexpr std::string_view may_run = "run";

int refuse(const workload::target_problem& why) {
  std::fprintf(stderr, "tenure agent: cannot stop the workload: %s\n", why.text.c_str());
  return runtime::exit_bad_settings;
}

/// Says whom it would stop, or why that cannot work. Nobody has to be there yet.
std::optional<int> look_for(const workload::target& what) {
  const auto processes = std::make_unique<workload::foreign_processes>();
  if (const auto ready = workload::prepare_target(*processes, what); !ready) {
    return refuse(ready.error());
  }
  const auto found = workload::survey(*processes);
  if (!found) return refuse(found.error());
  if (found->empty()) {
    std::fputs("tenure agent: the workload is not there yet\n", stderr);
  }
  for (const workload::found_process& one : *found) {
    std::fprintf(stderr, "tenure agent: the workload: %s\n", workload::text(one).c_str());
  }
  return std::nullopt;
}

}  // namespace

int guard_what_is_found(const config::settings& s, int argc, const char* const* argv) {
  const workload::target what = runtime::target_of(s.target);
  if (const auto refused = look_for(what)) return *refused;
  const bool runs = s.target.while_standby == config::on_standby::run;
  std::vector<std::string> words{"tenure",
                                 "agent",
                                 std::string(checked_mark),
                                 std::to_string(static_cast<int>(what.by)),
                                 what.value,
                                 runs ? std::string(may_run) : "stop",
                                 std::to_string(s.stop_signal),
                                 std::to_string(s.target.gain_signal),
                                 "--"};
  words.insert(words.end(), argv, argv + argc);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv("/proc/self/exe", pointers.data());
  std::perror("tenure agent: cannot execute /proc/self/exe; is /proc mounted?");
  return workload::exit_guard_unusable;
}

std::optional<int> become_guard_of_what_is_found(int argc, const char* const* argv) {
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() <= checked_words + 1 || words[2] != checked_mark ||
      words[checked_words] != "--") {
    return std::nullopt;
  }
  workload::guard_options options;
  workload::foreign_options& foreign = options.foreign.emplace();
  foreign.what = {.by = static_cast<workload::target::kind>(std::atoi(words[3].c_str())),
                  .value = words[4]};
  foreign.may_run_on_standby = words[5] == may_run;
  options.stop_signal = std::atoi(words[6].c_str());
  foreign.gain_signal = std::atoi(words[7].c_str());
  options.agent_argv.assign(words.begin() + checked_words + 1, words.end());
  return workload::run_guard(options);
}

}  // namespace tenure::cli
