#pragma once

#include <string>
#include <string_view>

#include "config/values.hpp"

/// The two ways in which text that is not ours is printed. It may come from an agent, a server or
/// the command line; nothing in it can steer a terminal, or make one line look like two.
namespace tenure::cli {

/// "tenure VERB: TEXT" on stderr; "tenure: TEXT" without a verb.
void print_failure(std::string_view verb, std::string_view text);

/// What is wrong with the value of an option, and what to write: "--ttl is "5", without a unit;
/// ...".
std::string wrong_value(std::string_view option, const settings::mistake& why);

/// JSON as one line with the same meaning: what does not print is escaped in it.
std::string json_line(std::string_view json);

/// That line on stdout.
void print_json(std::string_view json);

}  // namespace tenure::cli
