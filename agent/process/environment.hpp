#pragma once

#include <string>
#include <vector>

namespace tenure::process {

/// Where a workload finds the page that says whether its lease is in force (tenure_page.h).
inline constexpr const char* page_variable = "TENURE_PAGE";
/// Tells an agent about its guard. The workload does not get it.
inline constexpr const char* guard_fds_variable = "TENURE_GUARD_FDS";

/// The environment of this process without the variables that are between guard and agent.
[[nodiscard]] std::vector<char*> own_environment();

/// `arguments` as exec wants them; valid as long as they are.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& arguments);

}  // namespace tenure::process
