#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::stores::etcd {

/// Known defects of a server of this version ("3.4.23"): one warning per line, for the log. An
/// error if it has no gateway that Tenure can use.
///
/// The versions are those in which etcd's changelog lists the fix of each defect.
std::expected<std::vector<std::string>, std::string> judge_version(std::string_view version);

/// True if a server of this version answers a request for a watch's progress after all earlier
/// events (etcd's pull request 15237: 3.4.25, 3.5.8 and 3.6). Earlier versions answer ahead of
/// events that are on their way.
bool progress_keeps_order(std::string_view version);

}  // namespace tenure::stores::etcd
