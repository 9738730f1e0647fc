#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/ask.hpp"
#include "cli/text/terminal.hpp"
#include "wire/election.hpp"

/// What `tenure status` shows. No I/O.
namespace tenure::cli {

/// An agent and the newest that is known of it.
struct agent_sight {
  settings::endpoint agent;
  std::optional<agent_answer> answer{};            ///< nothing yet
  std::vector<wire::election_report> elections{};  ///< of the answer
  core::time_point at{};                           ///< when that came
};

/// Takes an answer in. One that is none of an agent becomes a failure.
void take(agent_sight& of, agent_answer answer, core::time_point now);

/// The table; below it, in rows of one cell, the agents that have not answered and those whose
/// store does not.
struct status_page {
  std::vector<table_row> table;
  std::vector<cell> failures;
};
status_page page_of(const std::vector<agent_sight>& seen, core::time_point now);

/// "one of 3 agents has not answered: pid 21511: GET ... at unix:/run/tenure/21511.sock: ...";
/// empty if all have. A local agent's process id is in the name of its socket.
std::string silence_text(const std::vector<agent_sight>& seen);

/// For how long an answer may be shown before the next is asked for, so that what is left of a
/// lease does not fall far below what it is because its renewals are no changes.
core::duration shown_for(const agent_sight& seen);

/// One line an election, or one that says why there is none: for a log. The same text for the same
/// state.
std::vector<std::string> lines_of(const agent_sight& seen);

/// What the agent has said, on one line; or the error.
std::string json_of(const agent_sight& seen);

}  // namespace tenure::cli
