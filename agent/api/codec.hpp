#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/snapshot.hpp"
#include "api/standing.hpp"
#include "api/verdict.hpp"
#include "http/http_message.hpp"

/// Answers as JSON. Bytes that are not UTF-8 are replaced, so that every answer can be parsed.
namespace tenure::api {

class election_pages;

/// What went wrong, for a program and for a person.
struct problem {
  std::string code;     ///< stable, snake_case
  std::string message;  ///< what failed, against what
  std::string action;   ///< what to do next
};

/// For what the query of a request says. `example`: "ask e.g. /v1/elections/db?index=7&wait=30s".
inline problem bad_query(std::string message, const char* example) {
  return {.code = "bad_query", .message = std::move(message), .action = example};
}

/// {"error":{"code":...,"message":...,"action":...}}. What does not print in them is replaced: they
/// repeat what the request said.
http::response error_response(unsigned status, const problem& what);

/// {"status":"ok"}, the answer of a probe.
http::response ok_response();

/// "7f3a-12": what this run of the agent has shown at an index. Names an event, and is in an ETag.
std::string version_id(const std::string& agent, std::uint64_t index);

/// 304: what the reader has of this index is still so.
http::response not_modified_response(const snapshot& seen, std::uint64_t index);

/// The JSON of an election, with places for what time alone changes. It is that of its index: at
/// another, it has to be made anew.
struct election_form {
  /// What belongs into a place.
  enum class part : std::uint8_t {
    holder_known,
    holder_age_ms,
    expires_in_ms,
    aside_for_ms,
    not_campaigning,
    as_of,
    store
  };
  struct place {
    std::size_t at = 0;  ///< in the text, which goes on there
    part what = part::as_of;
  };
  std::string text;
  std::vector<place> open;
};

election_form form_of(const election_snapshot& election, const snapshot& seen, const instant& at);

/// The JSON as of now.
std::string filled(const election_form& form, const election_snapshot& election,
                   const snapshot& seen, const instant& at);

/// One election, with the ETag of its index:
///
///     election, identity, agent, index, state, is_self, holder, version, version_text, holders,
///     holder_known, holder_age_ms, sequencer, expires_in_ms, since, as_of, last_loss, last_term,
///     slots, members, gone, paused, aside_for_ms, not_campaigning{reason, text},
///     workload_running, store{kind, reachable, last_answer_ms, why}, cluster_id
///
/// and `health` {state, reason, since} if it is checked, the same in each election of an agent.
/// What is vacant or not known is null. `version` is a number; `version_text` has the same digits
/// for readers whose numbers are doubles (JavaScript, jq), which are exact up to 2^53 only.
///
/// `form`: of its index.
http::response election_response(const election_form& form, const election_snapshot& election,
                                 const snapshot& seen, const instant& at);

/// {"elections":[...],"agent":...,"index":...,"as_of":...}, each as `election_response` has it,
/// with the ETag of the index of all.
http::response elections_response(election_pages& pages, const snapshot& seen, const instant& at);

/// The same as an event of a stream: its first line is its id, its data one line.
std::string election_event(const election_snapshot& election, const snapshot& seen,
                           const instant& at);

/// What is in memory of the terms of an election, newest first, `limit` of them at most:
///
///     election, identity, agent, complete_since, terms[{holder, version, version_text, is_self,
///     from, to, ended, reason}], holder_known, store, as_of
http::response history_response(const election_snapshot& election, const snapshot& seen,
                                const instant& at, std::size_t limit);

/// One body for readers of four older sidecars: name, last_update, is_leader, leader, node,
/// timestamp; election and version besides.
///
/// Those readers compare `name` with their own and begin to work if it is the same, so it is
/// empty while we hold the lease but may not act (pending, draining).
http::response older_response(const election_snapshot& election, const snapshot& seen,
                              const instant& at);

/// The same body as an event without a name.
std::string older_event(const election_snapshot& election, const snapshot& seen, const instant& at);

/// A yes (200) or a no (409), as all verdicts have it:
///
///     valid, election, asked{version, version_text, holder}, holder, version, version_text,
///     holders, source, as_of, age_ms, expires_in_ms, identity, store, cluster_id
///
/// and a no also reason, message and action. `holder` and `version` are those of the term in
/// question if it is valid, else of the one to show, null if there is none. `source` is lease,
/// cache or store; `as_of` is when that was true, `age_ms` before this answer.
///
/// Precondition: the verdict is certain.
http::response verdict_response(const term_question& asked, const verdict& what,
                                const election_snapshot& election, const snapshot& seen,
                                const instant& at);

/// "2026-01-31T12:00:00.250Z"
std::string rfc3339(std::int64_t unix_ms);

}  // namespace tenure::api
