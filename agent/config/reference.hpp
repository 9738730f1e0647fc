#pragma once

#include <string>

/// The table of settings as documents.
namespace tenure::config {

/// A JSON Schema (raw_settings-07, which every YAML editor plugin knows) of the configuration file.
/// It and `load` agree on all that a schema can say; `load` knows more, e.g. the time budget.
std::string json_schema();

/// The text of docs/configuration.md.
std::string reference_markdown();

}  // namespace tenure::config
