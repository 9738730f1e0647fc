#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/election.hpp"

/// What an agent's answer says, and how reliable it is, in words. `age_ms`: the age of the answer
/// itself.
namespace tenure::cli {

/// "as of 12s ago"; "not known" if nothing was seen. Precondition: `!of.holder_known`.
std::string as_of_text(const wire::election_report& of, std::int64_t age_ms = 0);

/// "etcd does not answer (last answer 12s ago): connection refused"; empty if it answers.
std::string store_trouble(const wire::store_report& of, std::int64_t age_ms = 0);

/// Why this agent cannot tell who holds. Precondition: `!of.holder_known`.
std::string why_not_known(const wire::election_report& of, std::int64_t age_ms = 0);

/// "cannot tell who holds db: ..."; names the first one of several. Empty if all are known.
std::string doubt_text(const std::vector<wire::election_report>& all);

/// The holder of that identity, or nullptr.
const core::holder* holder_named(const wire::election_report& in, const std::string& identity);

/// The state, in a word for people who have not read the design.
std::string state_word(const wire::election_report& of);

/// "7"
std::string text(core::version version);

/// Why the workload is unhealthy; empty if it is healthy or has no checks.
std::string unhealthy_text(const wire::election_report& of);

/// How long the election had been in its state when the agent answered.
std::optional<std::int64_t> since_ms(const wire::election_report& of);

}  // namespace tenure::cli
