#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/version.hpp"
#include "settings/kubernetes_names.hpp"

/// Where leases are in Kubernetes: in Lease objects of one namespace (coordination.k8s.io/v1), used
/// as client-go's `leaderelection` uses them, so that Go programs respect our leases and we theirs.
/// What Tenure adds is in annotations, and in Leases of its own that have a label.
namespace tenure::stores::kubernetes {

using settings::election_label;
using settings::slot_name;

/// `TRANSITIONS VERSION MARK [RELEASED_MS]`: the version of the term of the run with this mark that
/// has this number of transitions, and when it was released. A write does not know its own
/// resourceVersion, so this is written right after it.
inline constexpr std::string_view term_annotation = "tenure.dev/term";
/// Which term of this slot was released last, and how (release_record_text.hpp).
inline constexpr std::string_view release_annotation = "tenure.dev/release";
/// For people, while the term lasts: its version, and the identity of its holder without the mark
/// that `holderIdentity` has. No member reads them. Objects that name the active pod have the same
/// (kube/codec.hpp).
inline constexpr std::string_view version_annotation = "tenure.dev/version";
inline constexpr std::string_view holder_annotation = "tenure.dev/holder";
/// On the first Lease of an election: what its members agree on (agreement_text.hpp).
inline constexpr std::string_view agreement_annotation = "tenure.dev/agreement";
/// On the first Lease of an election: which of its Leases may be held (open_slots.hpp).
inline constexpr std::string_view slots_annotation = "tenure.dev/slots";
/// On the Lease of a slot: nobody may hold it who knows only an earlier `slots_annotation` than
/// this.
inline constexpr std::string_view epoch_annotation = "tenure.dev/epoch";
/// On the Lease of a member: what it says of itself (readiness_text.hpp). Earlier releases do not
/// write it.
inline constexpr std::string_view ready_annotation = "tenure.dev/ready";
/// On the first Lease of an election, before the id of an order from one member's agent to another:
/// the order (order_note). RBAC limits by its name who may write this Lease, but no Lease that does
/// not exist yet: orders are not Leases of their own.
inline constexpr std::string_view order_annotations = "tenure.dev/order-";

/// The slot of the Lease with this name; nothing if it is not a slot of the election.
std::optional<std::uint32_t> slot_named(std::string_view election, std::string_view name);

/// `<election>.member-<mark>`: a member, active or standby.
std::string member_name(std::string_view election, std::string_view mark);
bool is_member_name(std::string_view election, std::string_view name);

/// The id of the order in the annotation with this name; nothing if it is another annotation.
std::optional<std::string> order_in(std::string_view annotation);

/// The value of an annotation with an order.
struct order_note {
  std::int64_t left_ms = 0;  ///< by the clock of an API server; 0: not known
  std::string order;         ///< order_text.hpp
};
/// `LEFT_MS ORDER`
std::string order_note_text(const order_note& what);
/// Nothing if `text` does not begin with a time.
std::optional<order_note> parse_order_note(std::string_view text);

/// The id of the order to finish a term. No member leaves it: the holder derives it from its Lease
/// when Kubernetes' coordinated leader election prefers another holder. Each version of the Lease
/// asks again, as the member may have refused.
std::string preference_id(std::string_view uid, std::uint64_t resource_version);
bool is_preference(std::string_view order_id);

/// Tells the Leases of our runs from those of others: the same for all runs of the agent under one
/// guard, and for nobody else.
std::string mark_of(std::string_view session_of_the_agent);

/// Who holds, by a Lease's `holderIdentity`.
struct signature {
  std::string identity;
  std::string mark{};  ///< empty: of another program
};

/// `IDENTITY_MARK`. Unique per run, as client-go takes an identity that equals its own for itself.
/// Characters of the name that cannot be printed are replaced.
std::string signature_text(const signature& what);

/// A text without a mark is an identity as a whole.
signature parse_signature(std::string_view text);

/// The value of `term_annotation`.
struct term_note {
  std::int64_t transitions = 0;
  core::version version = core::no_version;
  std::string mark{};
  /// What the Lease says as `renewTime` since the release of the term: who has held it since has
  /// written another one.
  std::optional<std::int64_t> released_ms{};
};
std::string term_text(const term_note& what);
std::optional<term_note> parse_term(std::string_view text);

/// Reads Kubernetes' MicroTime (base/time_text.hpp), with any number of decimals or none; nothing
/// for other texts.
std::optional<std::int64_t> read_micro_time(std::string_view text);

/// What a write gives as the time of a renewal: now, but in a later second than `last`, which is
/// what the Lease says (0: nothing). client-go compares whole seconds: it would not see a renewal
/// in the same one, and count the lease from before.
std::int64_t renewal_time(std::int64_t now_ms, std::int64_t last_ms);

}  // namespace tenure::stores::kubernetes
