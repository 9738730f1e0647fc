#pragma once

#include <string>

namespace tenure::config {

/// A JSON Schema (draft-07, which every YAML editor plugin knows) of the configuration file. It and
/// `load` agree on all that a schema can say; `load` knows more, e.g. the time budget.
std::string json_schema();

}  // namespace tenure::config
