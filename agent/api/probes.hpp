#pragma once

#include "api/answer.hpp"
#include "api/snapshot.hpp"
#include "api/standing.hpp"
#include "http/http_message.hpp"

namespace tenure::api {

/// 200 while the election loop turns and the guard lives; else 503, and a restart is the cure.
http::response livez(const snapshot& seen, const pulse& alive, const instant& at);

/// 200 if the agent can do its work, on a standby as well: readiness by activity would keep a
/// rolling update waiting for ever.
http::response readyz(const snapshot& seen);

/// The workload may run and, if it is ours to run, does.
bool is_leader(const election_snapshot& election, const instant& at);

/// Waits or watches, and nothing of the workload runs.
bool is_replica(const election_snapshot& election);

/// The 503 of `/leader` or `/replica`: says what the election is instead.
http::response wrong_part(const election_snapshot& election, const snapshot& seen,
                          const instant& at);

}  // namespace tenure::api
