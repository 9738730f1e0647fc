#include <algorithm>
#include <array>
#include <string_view>

#include "cli/text/completion.hpp"
#include "cli/verbs.hpp"
#include "core/check.hpp"
#include "log/standard_streams.hpp"

namespace {

struct verb_and_run {
  std::string_view verb;
  int (*run)(const tenure::cli::invocation& what);
};

constexpr std::array runs{verb_and_run{"exec", tenure::cli::run_exec_agent},
                          verb_and_run{"status", tenure::cli::run_status},
                          verb_and_run{"wait", tenure::cli::run_wait},
                          verb_and_run{"history", tenure::cli::run_history},
                          verb_and_run{"verify", tenure::cli::run_verify},
                          verb_and_run{"resign", tenure::cli::run_order},
                          verb_and_run{"transfer", tenure::cli::run_order},
                          verb_and_run{"pause", tenure::cli::run_order},
                          verb_and_run{"resume", tenure::cli::run_order},
                          verb_and_run{"set", tenure::cli::run_set},
                          verb_and_run{"probe", tenure::cli::run_probe},
                          verb_and_run{"check", tenure::cli::run_check},
                          verb_and_run{"explain", tenure::cli::run_explain},
                          verb_and_run{"doctor", tenure::cli::run_doctor},
                          verb_and_run{"install", tenure::cli::run_install},
                          verb_and_run{"inject", tenure::cli::run_inject},
                          verb_and_run{"demo", tenure::cli::run_demo},
                          verb_and_run{"completion", tenure::cli::run_completion},
                          verb_and_run{"man", tenure::cli::run_man},
                          verb_and_run{"help", tenure::cli::run_help},
                          verb_and_run{"version", tenure::cli::run_version}};

}  // namespace

int main(int argc, char** argv) {
  using namespace tenure;
  log::reserve_standard_streams();
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "exec" || verb == "guard" || verb == "agent") log::outlive_stderr();
  // These verbs must stay small, and use only what they need.
  if (verb == "exec") {
    if (const auto status = cli::become_guard(argc, argv)) return *status;
  }
  if (verb == "guard") {
    if (const auto status = cli::become_guard_with_socket(argc, argv)) return *status;
  }
  if (verb == "agent") {
    if (const auto status = cli::become_guard_of_what_is_found(argc, argv)) return *status;
  }
  if (verb == "complete") return cli::run_complete(argc, argv);
  if (verb == "demo-worker") return cli::run_demo_worker(argc, argv);

  const auto what = cli::parse(argc, argv);
  if (!what) return what.error();
  if (what->verb == "agent") return cli::run_agent(*what, argc, argv);
  if (what->verb == "guard") return cli::run_guard(*what, argc, argv);
  const auto* const run = std::ranges::find(runs, what->verb, &verb_and_run::verb);
  TENURE_CHECK(run != runs.end());
  return run->run(*what);
}
