#pragma once

#include <string>
#include <vector>

#include "cli/version.hpp"
#include "config/problem.hpp"
#include "core/timing.hpp"
#include "runtime/doctor_findings.hpp"
#include "settings/agent.hpp"

/// The output of `--output json`.
namespace tenure::cli {

/// The time budget of `tenure explain`, and what the health checks add to it, if any. Durations are
/// seconds; the longest fail-over is null if the store never lets another member in by itself.
std::string budget_json(const core::timing& t, const core::consequences& means,
                        const settings::agent& of);

/// The verdict of `tenure check`.
std::string check_json(const std::string& file, bool good,
                       const std::vector<config::problem>& problems,
                       const std::vector<config::problem>& warnings);

/// The findings of `tenure doctor`.
std::string findings_json(const std::vector<runtime::finding>& all);

/// The facts of `tenure version`.
std::string version_json(const build_facts& what);

/// The result of `tenure install`: the path, and whether anything was written.
std::string install_json(const std::string& path, bool written, const build_facts& what);

/// True if this reply to etcd's `/v3/maintenance/status` comes from the leader. False for anything
/// else.
bool etcd_leads(const std::string& status);

}  // namespace tenure::cli
