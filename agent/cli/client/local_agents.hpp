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

/// How a command finds the agents of this machine, and chooses one of them.
namespace tenure::cli {

/// How long an agent that nobody has named is waited for: one that lives answers in milliseconds.
inline constexpr core::duration local_reply_limit = std::chrono::seconds(2);

/// The agents of this user that have left a socket in its runtime directory and listen on it. The
/// error says why the directory that TENURE_RUNTIME_DIR names cannot be used.
std::expected<std::vector<settings::endpoint>, std::string> local_agents();

/// Those that are asked: the one of `--api`; else of TENURE_API; else the local ones; else the
/// default address. The error says what is wrong with an address. `verb`: says on stderr, in its
/// name, that local agents could not be looked for; empty: does not.
std::expected<std::vector<settings::endpoint>, std::string> agents_to_ask(
    const std::optional<std::string>& given, const std::string& verb);

/// The same request to all of them at once; answers in their order.
std::vector<agent_answer> ask_all(const std::vector<settings::endpoint>& agents,
                                  const http::client_request& what, core::duration patience);

/// Which of several local agents a verb means.
enum class meant : std::uint8_t {
  any,   ///< whoever knows best
  self,  ///< the answer is about the member whose agent is asked: it must be clear which
};

/// An agent, which need not answer yet. The election is the one that was named, or the only one
/// that was found.
struct agent_choice {
  settings::endpoint agent;
  std::optional<std::string> election{};
};

/// The agent of a verb that takes `--api`. Only several local ones are asked, for what they have.
std::expected<agent_choice, ask_failure> agent_of(const invocation& what,
                                                  std::optional<std::string> election,
                                                  meant which = meant::any,
                                                  const std::string& member = {});

/// The one agent of a verb that asks about that agent itself. Of several local ones none is meant
/// more than another: the error lists them.
std::expected<settings::endpoint, ask_failure> one_agent_of(const invocation& what);

/// Agent and election of a verb that takes `--api` and `ELECTION`. An election that is not named is
/// the only one that there is. `member`: the agent of that member is preferred; empty: none is.
std::expected<election_address, ask_failure> election_address_of(const invocation& what,
                                                                 meant which = meant::any,
                                                                 const std::string& member = {});

/// What one of several local agents says of an election.
struct candidate {
  settings::endpoint agent;
  wire::election_report says;
};

/// Chooses among those that were found. No I/O.
std::expected<election_address, ask_failure> chosen_of(const std::vector<candidate>& all,
                                                       const std::optional<std::string>& election,
                                                       meant which, const std::string& member);

}  // namespace tenure::cli
