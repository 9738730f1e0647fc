#pragma once

#include <cstddef>
#include <string>

#include "cli/commands.hpp"

/// The output of `--help` and `tenure help`, made from the tables of commands and settings.
namespace tenure::cli {

/// The width of the terminal on stdout, limited to 80 to 100; 80 if it is not a terminal.
std::size_t help_columns();

/// All verbs.
std::string program_help(std::size_t columns);

/// The options of one verb, and its exit statuses.
std::string help_of(const command& of, std::size_t columns);

/// "tenure status [OPTIONS] [ELECTION]"
std::string usage_of(const command& of);

}  // namespace tenure::cli
