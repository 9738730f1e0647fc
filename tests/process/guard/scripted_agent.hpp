#pragma once

namespace tenure::tests {

/// The variable with the path of the Unix socket on which the test gives its orders.
inline constexpr const char* control_variable = "TENURE_TEST_CONTROL";

/// A stand-in for the agent: connects to the test, carries out its orders, one per line, and
/// reports the guard's events, one per line. The first line is "agent PID SESSION LAST FOUND": LAST
/// is the newest term that was granted, FOUND is "nothing", "running TERM", "stopping TERM" or
/// "ended TERM STATUS".
///
///     arm TERM MS [GRACE] kill_at in MS from now, stop_at GRACE milliseconds before
///     granted TERM        notes the grant; answered by "noted"
///     forget BEFORE       no grant that is noted is above it; answered by "forgotten"
///     start TERM [K=V]... with this environment
///     stop SIGNAL MS      SIGKILL in MS from now
///     bye CODE|workload
///     exit CODE           without a bye
///     garbage SEED COUNT  packets of random length and content
///     starts COUNT        orders to start a term that is not armed, without reading a reply
///     end                 `end_orphans`
///     log FORM FIELDS     the guard's lines are in this form (a number), with these fields
///     acknowledged        answered by "acknowledged yes" once the guard has taken the last arm
int be_scripted_agent();

}  // namespace tenure::tests
