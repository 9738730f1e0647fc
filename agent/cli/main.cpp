#include <string_view>

#include "cli/verbs.hpp"
#include "runtime/exit_status.hpp"

int main(int argc, char** argv) {
  using namespace tenure;
  const std::string_view verb = argc > 1 ? argv[1] : "";
  // These must stay small, and touch nothing that they do not need.
  if (verb == "exec") {
    if (const auto status = cli::become_guard(argc, argv)) return *status;
  }
  if (verb == "guard") {
    if (const auto status = cli::become_guard_with_a_door(argc, argv)) return *status;
  }
  if (verb == "agent") {
    if (const auto status = cli::become_guard_of_what_is_found(argc, argv)) return *status;
  }
  if (verb == "demo-worker") return cli::run_demo_worker(argc, argv);

  const auto what = cli::parse(argc, argv);
  if (!what) return what.error();
  if (what->verb == "exec") return cli::run_exec_agent(*what);
  if (what->verb == "agent") return cli::run_agent(*what, argc, argv);
  if (what->verb == "guard") return cli::run_guard(*what, argc, argv);
  if (what->verb == "check") return cli::run_check(*what);
  if (what->verb == "explain") return cli::run_explain(*what);
  if (what->verb == "verify") return cli::run_verify(*what);
  if (what->verb == "demo") return cli::run_demo(*what);
  return runtime::exit_bad_settings;
}
