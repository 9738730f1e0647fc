#pragma once

#include <string>

namespace tenure::config {

/// The table of settings as docs/configuration.md.
std::string reference_markdown();

}  // namespace tenure::config
