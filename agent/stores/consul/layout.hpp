#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/version.hpp"

/// Where leases are in Consul: in the places that `consul lock` and the official Go client use, so
/// that all of them respect each other's locks. Everything of an election is below `<election>/`,
/// which one recursive blocking query watches.
namespace tenure::stores::consul {

/// Flags of the lock key of an election with one slot (Consul's api/lock.go).
inline constexpr std::uint64_t lock_flags = 0x2ddccbc058a50c18;
/// Flags of the lock key and of the contenders of an election with several (api/semaphore.go). A
/// lock key that the commands of Consul's guide made has no flags, and keeps having none. A
/// contender counts with any flags.
inline constexpr std::uint64_t semaphore_flags = 0xe0f69a2baa414de0;

/// The prefix of all keys of an election.
std::string prefix_of(std::string_view election);

/// `<election>/.lock`: with one slot the holder's session locks it; with several its value says who
/// holds (semaphore_codec.hpp). Never deleted by us, as that would begin its LockIndex again.
std::string lock_key(std::string_view election);

/// `<election>/<session>`, locked by that session: a contender of a semaphore.
std::string contender_key(std::string_view election, std::string_view session);

/// `<election>/.tenure/release`: which term was released last, and how (release_record_text.hpp).
std::string release_key(std::string_view election);

/// `<election>/.tenure/agreement`: from which version on versions are accepted
/// (agreement_text.hpp). The lock key says how many may hold.
std::string agreement_key(std::string_view election);

/// `<election>/.tenure/members/<session>`, which that session locks: the name of a member, active
/// or standby.
std::string member_prefix(std::string_view election);
std::string member_key(std::string_view election, std::string_view session);

/// `<election>/.tenure/ready/<session>`, beside the name of that member: what it says of itself
/// (readiness_text.hpp). Earlier releases do not write it.
std::string ready_prefix(std::string_view election);
std::string ready_key(std::string_view election, std::string_view session);

/// `<election>/.tenure/orders/<id>`: an order from one member's agent to another (order_text.hpp),
/// locked by a session of its own.
std::string order_prefix(std::string_view election);
std::string order_key(std::string_view election, std::string_view id);

/// Tells the keys of our runs from those of others: the same for all runs of the agent under one
/// guard, and for nobody else.
std::string mark_of(std::string_view session_of_the_agent);

/// What we write into the key of a holder or of a member.
struct signature {
  std::string identity;
  std::string mark;  ///< empty: of another program, e.g. `consul lock`
  /// The version of a term whose key was written anew since it began; otherwise the key's own
  /// index is the version. Anybody can write this: it counts only if it is below that index.
  core::version version = core::no_version;
  std::uint32_t slot = 0;  ///< see core::holder
};

/// `IDENTITY MARK [VERSION] [slot=SLOT]`, the name percent-encoded; without SLOT it is 0.
std::string signature_text(const signature& what);

/// Any other text is an identity as a whole.
signature parse_signature(std::string_view text);

}  // namespace tenure::stores::consul
