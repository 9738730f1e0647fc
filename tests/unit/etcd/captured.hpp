#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenure::stores::etcd {

/// The releases that replies were captured from: the folders under captured/.
inline constexpr const char* captured_releases[] = {"3.4", "3.7"};

/// One captured body. Ends the test run if there is none of that name.
std::string captured(const std::string& release, const std::string& name);

/// The documents of a captured stream.
std::vector<std::string> captured_documents(const std::string& release, const std::string& name);

/// Every captured body of every release, with its name.
std::vector<std::pair<std::string, std::string>> all_captured();

}  // namespace tenure::stores::etcd
