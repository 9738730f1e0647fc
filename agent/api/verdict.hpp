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

/// Whether a term is valid: for a resource that gets a request stamped with it, and asks before it
/// obeys.
///
/// A verdict is true only for its own instant. A resource is safe only if it also remembers the
/// largest version it has obeyed, and refuses smaller ones.
namespace tenure::api {

using wire::term_question;

/// The result of a linearizable read of the store.
struct fresh_view {
  core::observation seen;
  core::time_point asked_at{};  ///< before the read began: it shows this instant or a later one
};

/// What a verdict is based on.
enum class source : std::uint8_t {
  /// Our own lease: true until stop_at, because the store grants it to nobody else before.
  lease,
  /// The watch, as of when the store last confirmed it. The term may have ended since.
  cache,
  /// A read of the store that began after the question: true at an instant in between.
  store,
};

enum class validity : std::uint8_t {
  valid,            ///< the term is in force
  superseded,       ///< over: there is a holder under a newer version
  not_held,         ///< over, or never begun; the store is past this version
  not_granted,      ///< the store has not reached this version: the stamp is wrong
  other_holder,     ///< the version is in force, but under another holder
  other_sequencer,  ///< the version is in force, but by another sequencer
  ending,           ///< ours, but its stop_at has passed, even if the store still shows it
  // Cannot tell. None of these is a yes or a no.
  unwatched,  ///< the watch is broken or has not shown anything yet, or the store does not answer
  behind,     ///< newer than the watch's last state: it may have been granted since
  expired,    ///< the lease, as the watch last showed it, has expired, and no more is known
};

/// True for a clear yes or no.
constexpr bool is_certain(validity v) {
  return v < validity::unwatched;
}

std::string_view name(source s);
/// Precondition: `v` is certain.
std::string_view name(validity v);

/// True if this is the holder of the term in question: by its version, or if that is not given, by
/// its sequencer.
bool is_about(const term_question& asked, const core::holder& one);

struct verdict {
  validity is = validity::unwatched;
  source from = source::cache;
  core::duration age{};               ///< how old the facts were when the verdict was given
  std::vector<core::holder> holders;  ///< in force, by the same source; lowest version first
  std::optional<std::int64_t> expires_in_ms;  ///< until stop_at, if the source is our own lease
};

/// Judges by what the agent knows at `at`. A term of our own session that we do not hold, or no
/// longer hold, is never valid.
verdict judge(const term_question& asked, const election_snapshot& election, const snapshot& seen,
              const instant& at);

/// Judges by a read of the store.
verdict judge(const term_question& asked, const election_snapshot& election, const instant& at,
              const fresh_view& fresh);

}  // namespace tenure::api
