#pragma once

#include <string>
#include <vector>

#include "cli/version.hpp"
#include "config/problem.hpp"
#include "core/timing.hpp"
#include "settings/agent.hpp"

/// What `--output json` prints.
namespace tenure::cli {

/// The time budget of `tenure explain`, and how health adds to it if it is checked. Durations are
/// seconds.
std::string budget_json(const core::timing& t, const core::consequences& means,
                        const settings::agent& of);

/// The verdict of `tenure check`.
std::string check_json(const std::string& file, bool good,
                       const std::vector<config::problem>& problems,
                       const std::vector<config::problem>& warnings);

/// What `tenure version` knows.
std::string version_json(const build_facts& what);

/// True if this reply of etcd's `/v3/maintenance/status` is from the member that leads. False for
/// whatever else it may be.
bool etcd_leads(const std::string& status);

}  // namespace tenure::cli
