#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::stores::etcd {

/// What is known against a server of this version ("3.4.23"): one warning a line, for the log. An
/// error if it has no gateway that we can use.
///
/// The versions are those in which etcd's changelog says that each defect was fixed.
std::expected<std::vector<std::string>, std::string> judge_version(std::string_view version);

/// True if a server of this version answers a request for the progress of a watch after all events
/// that came before (etcd's pull request 15237: 3.4.25, 3.5.8 and 3.6). Earlier ones answer past
/// events that are on their way.
bool progress_keeps_order(std::string_view version);

}  // namespace tenure::stores::etcd
