#pragma once

#include <string>
#include <vector>

namespace tenure::process {

/// Names the page in which a workload reads whether its lease is valid (tenure_page.h).
inline constexpr const char* page_variable = "TENURE_PAGE";
/// Names the guard's descriptors to its agent. The workload does not get it.
inline constexpr const char* guard_fds_variable = "TENURE_GUARD_FDS";

/// The environment of this process without the two variables above.
[[nodiscard]] std::vector<char*> own_environment();

/// `arguments` in the form exec takes; valid as long as they are.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& arguments);

}  // namespace tenure::process
