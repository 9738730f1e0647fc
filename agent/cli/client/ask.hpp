#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "cli/invocation.hpp"
#include "core/clock.hpp"
#include "http/client/client_message.hpp"
#include "settings/endpoint.hpp"
#include "wire/election.hpp"

/// How a command asks a running agent, and what it prints if there is no answer.
namespace tenure::cli {

/// More than an agent needs for any answer that it does not hold back.
inline constexpr core::duration reply_limit = std::chrono::seconds(10);
/// The list of an agent with ten thousand elections has several MiB.
inline constexpr http::client_limits agent_limits{.body_bytes = std::size_t{64} << 20U};

/// Why there is no answer.
struct ask_failure {
  int status;             ///< the exit status
  std::string text;       ///< one line for a person: what failed, against what, what to do
  std::string json;       ///< the same for a program: the agent's own error, if any
  std::string silence{};  ///< why nothing has arrived; empty: something has
};

/// A failure with the same text for a person and for a program.
ask_failure failure(int status, const char* code, const std::string& text);

/// The body of an answer with a status of 200 to 299.
using agent_answer = std::expected<std::string, ask_failure>;

/// Sends one request and waits for the reply. The error says what failed, against which server.
std::expected<http::client_reply, http::client_error> ask(const settings::endpoint& server,
                                                          http::client_request what,
                                                          core::duration patience);

/// The same, and judges the reply.
agent_answer ask_agent(const settings::endpoint& agent, http::client_request what);

/// The reply is not from an agent.
ask_failure not_an_agent(const settings::endpoint& agent);

/// Judges a reply. Only JSON from an agent counts as an answer.
agent_answer judged(const settings::endpoint& agent,
                    const std::expected<http::client_reply, http::client_error>& reply);

/// The agent of --api, else of TENURE_API, else the default. The error says what is wrong with the
/// address.
std::expected<settings::endpoint, std::string> agent_address(
    const std::optional<std::string>& given);

/// What TENURE_ELECTION names, unless it is a list: the variable is also a setting of agents.
std::optional<std::string> own_election_name();

/// The election of the ELECTION argument or TENURE_ELECTION; nothing without either.
std::optional<std::string> named_election(const invocation& what);

/// "/v1/elections/team%2Fdb", or the path of the list.
std::string path_of(const std::optional<std::string>& election);

/// "which election? the agent has a, b; ..."
ask_failure which_election(const settings::endpoint& agent,
                           const std::vector<wire::election_report>& of);

/// Agent and election for a verb that takes `--api` and `ELECTION`.
struct election_address {
  settings::endpoint agent;
  std::string election;
};

/// Prints "tenure status: ..." on stderr, and the JSON on stdout if requested. Returns the status.
int report_failure(const invocation& what, const ask_failure& why);

}  // namespace tenure::cli
