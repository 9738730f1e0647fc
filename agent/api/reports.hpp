#pragma once

#include <cstddef>

#include "api/election_status.hpp"
#include "api/snapshot.hpp"
#include "api/verdict.hpp"
#include "wire/election.hpp"

/// The contents of answers, as values of wire/: computed from a snapshot for the instant of the
/// answer. Precondition of all: `election` is one of `seen`.
namespace tenure::api {

wire::election_report report_of(const election_snapshot& election, const snapshot& seen,
                                const instant& at);

/// The newest terms in memory, at most `limit`.
wire::history_report history_of(const election_snapshot& election, const snapshot& seen,
                                const instant& at, std::size_t limit);

wire::older_status older_status_of(const election_snapshot& election, const snapshot& seen,
                                   const instant& at);

/// Precondition: the verdict is certain.
wire::verification verification_of(const term_question& asked, const verdict& what,
                                   const election_snapshot& election, const snapshot& seen,
                                   const instant& at);

}  // namespace tenure::api
