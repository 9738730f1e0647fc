#pragma once

#include <cstddef>
#include <string>

#include "cli/commands.hpp"

/// What `--help` and `tenure help` print, made from the table of commands and that of settings.
namespace tenure::cli {

/// As wide as the terminal on stdout, within 80 to 100; 80 if it is not a terminal.
std::size_t help_columns();

/// All verbs.
std::string program_help(std::size_t columns);

/// What one verb takes, and the statuses that it ends with.
std::string help_of(const command& of, std::size_t columns);

/// "tenure status [OPTIONS] [ELECTION]"
std::string usage_of(const command& of);

}  // namespace tenure::cli
