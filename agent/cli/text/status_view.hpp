#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/ask.hpp"
#include "cli/text/terminal.hpp"
#include "wire/election.hpp"

/// The output of `tenure status`. No I/O.
namespace tenure::cli {

/// An agent and its newest answer.
struct agent_sight {
  settings::endpoint agent;
  std::optional<agent_answer> answer{};            ///< nothing before the first
  std::vector<wire::election_report> elections{};  ///< the elections in the answer
  core::time_point at{};                           ///< when the answer arrived
};

/// Stores an answer. One that is not from an agent becomes a failure.
void take(agent_sight& of, agent_answer answer, core::time_point now);

/// The table; after it, in rows of one cell, the holders that have vanished, the agents that have
/// not answered and those whose store does not answer.
struct status_page {
  std::vector<table_row> table;
  std::vector<cell> crashes;
  std::vector<cell> failures;
};
status_page page_of(const std::vector<agent_sight>& seen, core::time_point now);

/// "one of 3 agents has not answered: pid 21511: GET ... at unix:/run/tenure/21511.sock: ...";
/// empty if all have. The name of a local agent's socket contains its process id.
std::string silence_text(const std::vector<agent_sight>& seen);

/// How long an answer may be shown before the next request: renewals are not changes, so the
/// displayed time left of a lease would otherwise fall far below the real one.
core::duration shown_for(const agent_sight& seen);

/// One line per election, or one that says why there is none: for a log. The same state always
/// gives the same text.
std::vector<std::string> lines_of(const agent_sight& seen);

/// The agent's answer on one line; or the error.
std::string json_of(const agent_sight& seen);

}  // namespace tenure::cli
