#pragma once

#include <string>
#include <string_view>

#include "config/values.hpp"

/// Prints text from outside: from an agent, a server or the command line. Such text cannot control
/// the terminal, or make one line look like two.
namespace tenure::cli {

/// "tenure VERB: TEXT" on stderr; "tenure: TEXT" without a verb.
void print_failure(std::string_view verb, std::string_view text);

/// What is wrong with the value of an option, and what to write: "--ttl is "5", without a unit;
/// ...".
std::string wrong_value(std::string_view option, const settings::mistake& why);

/// JSON on one line with the same meaning: unprintable characters are escaped.
std::string json_line(std::string_view json);

/// Prints that line on stdout.
void print_json(std::string_view json);

}  // namespace tenure::cli
