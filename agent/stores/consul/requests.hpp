#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/lease_group.hpp"
#include "settings/election.hpp"
#include "stores/consul/cluster.hpp"
#include "stores/consul/codec.hpp"
#include "stores/consul/mirror.hpp"

/// The requests and transactions of an election. Pure.
namespace tenure::stores::consul {

request create_session_request(const session_wish& what);
request renew_session_request(std::string_view id);
request destroy_session_request(std::string_view id);

/// The session that the first of these has made.
parsed<std::string> session_in(const reply& answer);

/// True if a renewal was answered that this session does not exist.
bool says_gone(const reply& answer, std::string_view id);

/// Reads all keys with this prefix, consistent.
request read_request(std::string_view prefix);

/// The same as a blocking query: answered when there is a change after `index`, or after `wait`
/// plus at most a sixteenth of it.
request watch_request(std::string_view prefix, std::uint64_t index, core::duration wait);

/// The keys in the answer to one of these, which may be none. Malformed if one does not have the
/// prefix.
parsed<std::vector<key_value>> keys_in(const reply& answer, std::string_view prefix);

/// The prefix of some elections' keys, and these elections.
struct folder {
  std::string prefix;
  std::vector<core::election_index> elections;
};

/// What is watched together: each election on its own, or, if there are many, all with the same
/// folder, which is the name up to its last slash. A watch occupies a connection.
std::vector<folder> folders_of(const std::vector<settings::election>& elections);

/// (key, LockIndex, session), with which a program can ask Consul whether we still hold.
std::string sequencer_of(const slot_holder& one);

/// What the key of a holder says. A term that has moved says its version.
std::string text_of(const slot_holder& one);

/// Takes a slot, if the lock key is as `on` says. With one slot the session locks that key; with
/// several it locks its contender's key and writes itself into the lock key. Deletes the keys of
/// contenders that are dead. The number of slots is that of `election` from then on: if `on` says
/// another one, nobody holds.
std::vector<operation> campaign_transaction(const settings::election& election, const basis& on,
                                            const std::string& session, const std::string& text);

/// Moves the term `own` to another session, with the same version, if its key (and the lock key of
/// a semaphore) is as we know it.
std::vector<operation> move_transaction(std::string_view election, const basis& on,
                                        const slot_holder& own, const std::string& session);

/// Releases the term with that key, if the key (and the lock key of a semaphore) is as we know it.
/// Writes `note` in the same step unless that is empty. With `next`, a lock is that member's in the
/// same step; the transaction fails if its session has ended.
std::vector<operation> release_transaction(std::string_view election, const basis& on,
                                           const std::string& key, std::uint64_t index,
                                           const std::string& session, const std::string& note,
                                           const std::optional<place_offer>& next = {});

}  // namespace tenure::stores::consul
