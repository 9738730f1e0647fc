#pragma once

#include <string>
#include <vector>

#include "cli/invocation.hpp"
#include "settings/agent.hpp"

/// The subcommands, one file each. Each returns the exit status.
namespace tenure::cli {

/// `tenure exec`, the first process: becomes the guard. Called before anything else runs, with the
/// whole command line. Returns nothing on a usage error, which `parse` then explains.
std::optional<int> become_guard(int argc, const char* const* argv);

/// `tenure guard`: checks its arguments, and replaces itself by the guard below.
int run_guard(const invocation& what, int argc, const char* const* argv);
/// `tenure guard --probe`, which the kubelet starts beside a guard: becomes the command while the
/// guard's workload runs, and succeeds otherwise.
int probe_workload(const invocation& what, const char* const* command);
/// Nothing if the arguments are not checked yet.
std::optional<int> become_guard_with_socket(int argc, const char* const* argv);

/// `tenure agent` with a target: prints which process it would stop, and replaces itself by the
/// guard below. Returns only on failure.
int guard_what_is_found(const settings::agent& s, int argc, const char* const* argv);
/// Nothing if the arguments are not checked yet.
std::optional<int> become_guard_of_what_is_found(int argc, const char* const* argv);

/// `tenure exec`, the process that the guard starts.
int run_exec_agent(const invocation& what);
int run_agent(const invocation& what, int argc, const char* const* argv);
int run_check(const invocation& what);
int run_explain(const invocation& what);
int run_doctor(const invocation& what);
int run_install(const invocation& what);
int run_inject(const invocation& what);
int run_demo(const invocation& what);
int run_verify(const invocation& what);
int run_status(const invocation& what);
int run_wait(const invocation& what);
int run_history(const invocation& what);
int run_version(const invocation& what);
int run_help(const invocation& what);
int run_completion(const invocation& what);
int run_man(const invocation& what);
int run_probe(const invocation& what);
/// `tenure resign`, `transfer`, `pause` and `resume`.
int run_order(const invocation& what);
int run_set(const invocation& what);

/// The demo's workload: stamps the time into a file for as long as it runs.
int run_demo_worker(int argc, const char* const* argv);

/// Settings from file, environment and flags; prints all mistakes on stderr.
std::expected<config::configuration, int> load_settings(const invocation& what);

}  // namespace tenure::cli
