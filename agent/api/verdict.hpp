#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/election_status.hpp"
#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "wire/election.hpp"

/// Whether a term is in force: for a resource that got a request stamped with it, and asks before
/// it obeys.
///
/// No verdict reaches beyond its own instant. A resource is safe only if it also remembers the
/// largest version it has obeyed, and refuses smaller ones.
namespace tenure::api {

using wire::term_question;

/// What a linearizable read of the store has shown.
struct fresh_view {
  core::observation seen;
  core::time_point
      asked_at{};  ///< before the read was begun: it shows this instant, or a later one
};

/// What a verdict rests on.
enum class source : std::uint8_t {
  /// Our own lease: true until stop_at, because the store grants it to nobody else before.
  lease,
  /// The watch, as of when the store last vouched for it. It may have ended the term since.
  cache,
  /// A read of the store that was begun after the question: true at an instant in between.
  store,
};

enum class validity : std::uint8_t {
  valid,         ///< it is in force
  superseded,    ///< over: somebody holds under a newer version
  not_held,      ///< over, or never begun; the store is past this version
  not_granted,   ///< the store has not come to this version: the stamp is wrong
  other_holder,  ///< the version is in force, but it is not that holder's
  ending,        ///< ours, but its stop_at has passed, whatever the store still shows
  // Cannot tell. None of these may be taken for a yes or a no.
  unwatched,  ///< the watch is broken, has not shown anything yet, or the store does not answer
  behind,     ///< newer than what the watch has shown: it may have been granted since
  expired,    ///< the lease, as the watch last showed it, has run out, and no more is known
};

/// True for a yes or a no.
constexpr bool is_certain(validity v) {
  return v < validity::unwatched;
}

std::string_view name(source s);
/// Precondition: `v` is certain.
std::string_view name(validity v);

struct verdict {
  validity is = validity::unwatched;
  source from = source::cache;
  core::duration age{};               ///< of what it rests on, when it was given
  std::vector<core::holder> holders;  ///< those in force, by the same source; lowest version first
  std::optional<std::int64_t> expires_in_ms;  ///< until stop_at, if it rests on our own lease
};

/// Judges by what the agent knows at `at`. A term of our own session that we do not hold (any
/// longer) is never valid.
verdict judge(const term_question& asked, const election_snapshot& election, const snapshot& seen,
              const instant& at);

/// Judges by what the store has said.
verdict judge(const term_question& asked, const election_snapshot& election, const instant& at,
              const fresh_view& fresh);

}  // namespace tenure::api
