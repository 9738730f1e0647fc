#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/text/report.hpp"

/// What an agent's answer is worth, in words. `age_ms`: how old that answer is itself.
namespace tenure::cli {

/// "as of 12s ago"; "not known" if nothing was seen. Precondition: `!of.holder_known`.
std::string as_of_text(const election_report& of, std::int64_t age_ms = 0);

/// "etcd does not answer (last answer 12s ago): connection refused"; empty if it answers.
std::string store_trouble(const store_report& of, std::int64_t age_ms = 0);

/// Why this agent cannot tell who holds. Precondition: `!of.holder_known`.
std::string why_not_known(const election_report& of, std::int64_t age_ms = 0);

/// "cannot tell who holds db: ..."; of several, the first is named. Empty if all are known.
std::string doubt_text(const std::vector<election_report>& all);

}  // namespace tenure::cli
