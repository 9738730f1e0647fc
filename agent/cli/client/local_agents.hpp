#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/ask.hpp"
#include "cli/invocation.hpp"
#include "core/clock.hpp"
#include "settings/endpoint.hpp"
#include "wire/election.hpp"

/// How a command finds the agents of this machine and chooses one.
namespace tenure::cli {

/// How long to wait for an agent that nobody has named: a living one answers in milliseconds.
inline constexpr core::duration local_reply_limit = std::chrono::seconds(2);

/// This user's agents that listen on a socket in the directory of TENURE_RUNTIME_DIR; else in the
/// user's runtime directory or in /run/tenure. Directories right below these count, too. The error
/// says why the directory in TENURE_RUNTIME_DIR cannot be used.
std::expected<std::vector<settings::endpoint>, std::string> local_agents();

/// The agents to ask: that of `--api`; else of TENURE_API; else the local ones; else the default
/// address. The error says what is wrong with an address. `verb`: the verb in whose name stderr
/// gets a warning if local agents could not be looked for; empty: no warning.
std::expected<std::vector<settings::endpoint>, std::string> agents_to_ask(
    const std::optional<std::string>& given, const std::string& verb);

/// Sends the same request to all of them at once; returns the answers in the same order.
std::vector<agent_answer> ask_all(const std::vector<settings::endpoint>& agents,
                                  const http::client_request& what, core::duration patience);

/// Which of several local agents a verb is about.
enum class meant : std::uint8_t {
  any,        ///< the one that knows most
  self,       ///< the member whose agent is asked: it must be clear which
  went_back,  ///< one that has seen versions go back, else the one that knows most
};

/// An agent, which need not answer yet. The election is the one named, or the only one found.
struct agent_choice {
  settings::endpoint agent;
  std::optional<std::string> election{};
};

/// The agent for a verb that takes `--api`. Asks for elections only if there are several local
/// agents.
std::expected<agent_choice, ask_failure> agent_of(const invocation& what,
                                                  std::optional<std::string> election,
                                                  meant which = meant::any,
                                                  const std::string& member = {});

/// The agent for a verb about that agent itself. With several local agents none is preferred: the
/// error lists them.
std::expected<settings::endpoint, ask_failure> one_agent_of(const invocation& what);

/// Agent and election for a verb that takes `--api` and `ELECTION`. Without a name, the only
/// election. `member`: prefers the agent of that member; empty: no preference.
std::expected<election_address, ask_failure> election_address_of(const invocation& what,
                                                                 meant which = meant::any,
                                                                 const std::string& member = {});

/// What one of several local agents reports about an election.
struct candidate {
  settings::endpoint agent;
  wire::election_report says;
};

/// Chooses among the candidates. No I/O.
std::expected<election_address, ask_failure> chosen_of(const std::vector<candidate>& all,
                                                       const std::optional<std::string>& election,
                                                       meant which, const std::string& member);

}  // namespace tenure::cli
