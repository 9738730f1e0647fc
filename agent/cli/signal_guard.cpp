#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/text/checked_words.hpp"
#include "cli/verbs.hpp"
#include "guard/guard_process.hpp"
#include "guard/target_check.hpp"
#include "runtime/exit_status.hpp"

/// Signal mode: the workload is in another container, and somebody else starts it.
namespace tenure::cli {
namespace {

/// The target's kind, value and user, the standby behaviour, the stop signal and the gain signal.
constexpr std::size_t checked_count = 6;
constexpr std::string_view no_user = "-";
constexpr std::string_view may_run = "run";

int refuse(const guard::target_problem& why) {
  std::fprintf(stderr, "tenure agent: cannot stop the workload: %s\n", why.text.c_str());
  return runtime::exit_bad_settings;
}

/// Prints which process it would stop, or why that cannot work. There need not be one yet.
std::optional<int> look_for(const settings::target& what) {
  const auto processes = std::make_unique<guard::foreign_processes>(guard::reader_that_waits());
  if (const auto ready = guard::prepare_target(*processes, what); !ready) {
    return refuse(ready.error());
  }
  const auto found = guard::survey(*processes);
  if (!found) return refuse(found.error());
  if (found->empty()) {
    std::fputs("tenure agent: the workload is not there yet\n", stderr);
  }
  for (const guard::found_process& one : *found) {
    std::fprintf(stderr, "tenure agent: the workload: %s\n", guard::text(one).c_str());
  }
  return std::nullopt;
}

}  // namespace

int guard_what_is_found(const settings::agent& s, int argc, const char* const* argv) {
  const settings::target& what = s.target;
  if (const auto refused = look_for(what)) return *refused;
  const bool runs = s.target.while_standby == settings::on_standby::run;
  return run_checked("agent",
                     {.words = {std::to_string(static_cast<int>(what.by)), what.value,
                                what.uid ? std::to_string(*what.uid) : std::string(no_user),
                                runs ? std::string(may_run) : "stop", std::to_string(s.stop_signal),
                                std::to_string(s.target.gain_signal)},
                      .rest = {argv, argv + argc}});
}

std::optional<int> become_guard_of_what_is_found(int argc, const char* const* argv) {
  auto given = take_checked(argc, argv, checked_count);
  if (!given) return std::nullopt;
  const std::vector<std::string>& words = given->words;
  guard::guard_options options;
  guard::foreign_options& foreign = options.foreign.emplace();
  foreign.what = {.by = static_cast<settings::target::kind>(std::atoi(words[0].c_str())),
                  .value = words[1]};
  if (words[2] != no_user) {
    foreign.what.uid = static_cast<uid_t>(std::strtoul(words[2].c_str(), nullptr, 10));
  }
  foreign.may_run_on_standby = words[3] == may_run;
  options.stop_signal = std::atoi(words[4].c_str());
  foreign.gain_signal = std::atoi(words[5].c_str());
  options.agents = std::move(given->rest);
  return guard::run_guard(options);
}

}  // namespace tenure::cli
