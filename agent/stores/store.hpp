#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/wall_time.hpp"
#include "core/clock.hpp"
#include "core/lease_group.hpp"
#include "core/store_contact.hpp"
#include "core/vocabulary.hpp"
#include "core/word.hpp"
#include "settings/consul.hpp"
#include "settings/election.hpp"
#include "settings/security.hpp"
#include "stores/sent_secrets.hpp"

/// The contract between Tenure and a store. tests/contract runs against the real server of every
/// store.
///
/// Every outcome is one of: done, refused (somebody else holds it), lost (the store itself says
/// that it is no longer ours), unknown (it may or may not have happened). In each store, a table
/// maps every error to one of the four; an error outside the table is unknown.
namespace tenure::http {
class asio_loop;
}

namespace tenure::stores {

/// It may or may not have happened. `why` is for a person: what failed, against what, and what to
/// do next, if anything. Never contains a secret.
struct unknown {
  std::string why;
};

/// The lease is ours.
struct grant {
  core::version version = core::no_version;
  std::string sequencer;          ///< the store's own proof of this term; opaque
  core::duration ttl{};           ///< as granted
  core::time_point sent_at{};     ///< when the first byte of the request left, or earlier
  bool released_cleanly = false;  ///< the previous holder is known to have released
  /// The smallest number that no other holder had when the slot was taken; for the whole term, also
  /// if the election has fewer slots since. See core::holder.
  std::uint32_t slot = 0;
};

/// Others hold all slots.
struct refusal {
  core::observation seen;
};

using acquire_outcome = std::variant<grant, refusal, unknown>;

/// Whether one term of a renewal was renewed is not known, and `why`; see `unknown`.
struct unanswered_renewal {
  core::election_index which{};
  std::string why;
};

/// Every requested term holds for `ttl` from `sent_at`, except those in `lost` and in `unanswered`:
/// a loss is told at once, even if nothing is known yet of other terms, and a store that renews
/// each term by itself may answer for some of them. If nothing is known of any, it is `unknown`.
struct renewal {
  core::time_point sent_at{};
  core::duration ttl{};
  std::vector<core::renewal_loss> lost;
  std::vector<unanswered_renewal> unanswered{};
};

using renew_outcome = std::variant<renewal, unknown>;

/// How a term is released.
struct release_details {
  /// Nothing that ran under this or an earlier term is alive.
  bool clean = false;
  core::loss_reason why = core::loss_reason::none;
  std::string heir{};           ///< see core::release_record
  std::int64_t at_unix_ms = 0;  ///< see core::release_record
};

/// Released, or there was nothing left to release.
struct released {};

using release_outcome = std::variant<released, unknown>;

/// An order was left, answered or dropped.
struct order_written {
  /// False: the order no longer existed, or somebody else had answered it before.
  bool done = true;
  /// For an order that was to be dropped and was not: the answer that a member had already given,
  /// and acts on.
  std::optional<core::order_reply> reply{};
};

using order_outcome = std::variant<order_written, unknown>;
using read_outcome = std::variant<core::observation, unknown>;

/// Not possible in this store, and why, and what to do.
struct not_agreed {
  std::string why;
  std::string action;
};

/// The agreement from now on.
using agree_outcome = std::variant<core::agreement, not_agreed, unknown>;

/// What a store reports about itself once it was reached.
struct description {
  std::string store;           ///< "sqlite", "etcd", ...
  std::string server_version;  ///< empty before the first contact
  std::string cluster_id;  ///< published with the version: after a restore, versions may go back
  core::duration expiry_lag{};  ///< how late the store itself may notice an expiry
  core::duration min_ttl{};
  core::duration max_ttl = core::duration::max();
  std::vector<std::string> warnings;  ///< one line each, for the log
};

/// A configuration that cannot work: what failed, against what, what to do. The agent exits.
struct open_error {
  std::string text;
};

/// News of a store in use, for readers of the log.
struct notice {
  bool is_trouble = true;  ///< false: a trouble reported before is over
  std::string text;        ///< one line
};

/// What a store is opened with. From then on, an election is named by its index in `elections`.
struct setup {
  std::string kind;                    ///< "sqlite", "etcd", ...
  std::vector<std::string> endpoints;  ///< URLs; a path for SQLite
  std::string identity;                ///< shown to others as the holder
  std::string session;                 ///< this incarnation's session: no other agent ever uses it
  core::duration ttl{};                ///< requested
  std::vector<settings::election> elections;
  bool announce = false;  ///< be listed in the `members` that the store shows, if it can
  settings::security secure{};
  /// Where the leases are, if the store has namespaces; empty: in the namespace of the user that
  /// signs in, or in the usual one.
  std::string name_space{};
  settings::consul consul{};  ///< for the store "consul" alone
  /// Called for each answer and each failure of any request. At least every ttl /
  /// core::store_looks_per_ttl the store has something to report, even while nobody asks anything.
  /// Called on the loop, also from within a call: it must not call the store.
  std::function<void(const core::contact_event&)> hears{};
  /// Called for trouble that does not fail a request: once when it begins, and once when it is
  /// over, if the store can tell. Called as `hears` is. Trouble at the start is in
  /// `description::warnings`.
  std::function<void(const notice&)> notes{};
  /// Where other members tell this agent a word, as the list of members says it; empty: nowhere.
  std::string peer_address{};
  /// Tells a word to the member whose `peer_address` is `to`; empty: nobody is told any. Called on
  /// the loop, also from within a call: it must not call the store.
  std::function<void(const std::string& to, const core::word& what)> tell{};
  /// What the store sends to prove who it is; shared with what shows its text.
  std::shared_ptr<sent_secrets> sent = std::make_shared<sent_secrets>();
  /// The wall clock, in milliseconds since 1970.
  std::function<std::int64_t()> wall_ms = base::wall_now_ms;
};

/// How long a member can take an order that was left for it. A living member takes it in
/// milliseconds.
inline constexpr core::duration order_lasts = std::chrono::seconds(4);
/// How long the store shows an order. This is longer than `order_lasts`, so the sender that takes
/// an expired order back still finds it, and so learns whether it was answered.
inline constexpr core::duration order_stays = order_lasts + std::chrono::seconds(1);

template <class Outcome>
using handler = std::move_only_function<void(Outcome)>;

/// A watch shows the present state first, then every change; or, once, why it broke, after which it
/// is silent until it is opened again.
using watch_handler = std::function<void(std::variant<core::observation, unknown>)>;

/// A store that leases are kept in.
///
/// All calls are made, and all handlers are called, on the loop that the store was made with; no
/// call blocks it. A handler is never called from within the call that takes it. Operations end by
/// their deadline, at the latest with `unknown`. No exception crosses this interface.
class store {
 public:
  virtual ~store() = default;

  /// Call once, before anything else. A server that cannot be reached is not an error: the store
  /// keeps trying, and says so in `warnings`, as does each operation that fails.
  virtual void open(handler<std::expected<description, open_error>> done) = 0;

  /// What the store has reported about itself so far; little if its server was not reached yet.
  [[nodiscard]] virtual description describe() const = 0;

  /// Asks for a lease. The first candidate of an election records its number of slots; one that is
  /// configured for another number is refused. Idempotent within a session: if it holds a lease
  /// already, that one is renewed and granted with the same version. A new version is larger than
  /// `above` if the store makes its own versions.
  virtual void acquire(core::election_index which, core::version above, core::time_point deadline,
                       handler<acquire_outcome> done) = 0;

  /// Renews all `items` in one call if the store can; `ttl` is the one of the settings.
  virtual void renew(std::vector<core::renewal_item> items, core::time_point deadline,
                     handler<renew_outcome> done) = 0;

  /// Releases the term of `version`, if it is still ours; with `no_version`, any term that our
  /// session holds in this election. After a clean release the next grant may be
  /// `released_cleanly`; otherwise it must not be. If a term is named, the watch shows its release
  /// record from then on. A release that is executed late must not touch a term that was granted
  /// after this call.
  virtual void release(core::election_index which, core::version version, release_details how,
                       core::time_point deadline, handler<release_outcome> done) = 0;

  /// Ends a term of another member, because somebody has seen that nothing which ran under it or
  /// under an earlier term is alive. `whose` is what a watch or a read of this store has shown. The
  /// term is known by its version and its sequencer, as a restored store may grant a version again.
  ///
  /// One conditional write ends that term or nothing, so the call may be repeated, and one that is
  /// executed late touches no later term. The outcome is `released` also if that term was over
  /// before. A term of our own session is left as it is, and so is one of another program if the
  /// store can tell.
  ///
  /// The watch shows a release record in the name of the holder. If `how` is clean, the next grant
  /// may be `released_cleanly`. A holder that lives after all is told of the loss by its next
  /// renewal.
  ///
  /// Preconditions: `how` names no heir. No term of a larger version is known to be over: a store
  /// that was restored from a backup may show an old term again while its successor still runs.
  virtual void end_term(core::election_index which, const core::holder& whose, release_details how,
                        core::time_point deadline, handler<release_outcome> done) = 0;

  /// What the store holds now; linearizable.
  virtual void read(core::election_index which, core::time_point deadline,
                    handler<read_outcome> done) = 0;

  /// Opens or re-opens the watch of one election. Changes are pushed, not polled, if the store can.
  virtual void watch(core::election_index which, watch_handler seen) = 0;

  /// Accepts, for all members of an election, versions from the store's present one on; see
  /// core::agreement. `not_agreed` if that has no meaning in this store.
  virtual void accept_versions(core::election_index which, core::time_point deadline,
                               handler<agree_outcome> done) = 0;

  /// Leaves an order where all watches show it, for `order_stays`. One that is there stays so.
  virtual void leave_order(core::election_index which, core::left_order what,
                           core::time_point deadline, handler<order_outcome> done) = 0;

  /// Answers an order that the watch has shown. If several members try, exactly one gets `done`,
  /// and carries the order out. A late execution cannot answer an order that was dropped before.
  virtual void answer_order(core::election_index which, const std::string& id,
                            core::order_reply reply, core::time_point deadline,
                            handler<order_outcome> done) = 0;

  /// Takes an order back that nobody has answered: after that nobody can. One that was answered
  /// stays until its time is over, because the member that has answered may have to find out there
  /// whether its answer counts. For an order that is not there the answer is unknown: it may have
  /// been answered before it disappeared, and a repeated drop finds nothing.
  virtual void drop_order(core::election_index which, const std::string& id,
                          core::time_point deadline, handler<order_outcome> done) = 0;

  /// What the list of members says of us in this election from now on. It is written once our name
  /// is there, and with each later change; a write that fails is repeated and not reported. Does
  /// nothing without `setup::announce`. Until the first call our entry says that we are not ready.
  virtual void announce(core::election_index which, const core::readiness& says) = 0;

  /// Whether we come next in this election when the present holder ends. A store that can pass a
  /// lease on may keep a place in line for us, so that the holder's release is all that is written.
  /// Once the place has become a term, the watch shows a holder that is ours; `acquire` then grants
  /// it. The watch shows, too, whether there is such a place. Does nothing in other stores, and
  /// without `setup::announce`.
  virtual void stand_in_line(core::election_index /*which*/, bool /*stands*/) {}

  /// Somebody has told this agent a word. If it comes from the holder, and our place is the next
  /// one for certain, the watch shows us as the holder from then on, although the release is still
  /// on its way. In any other case, and in a store without a queue, nothing happens, and false is
  /// returned.
  virtual bool hear(const core::word& /*what*/) { return false; }

  /// Removes our name from the members that the store shows, if it is there, by the deadline. Calls
  /// `done` in any case, unless the store is closed first. Only `close` may be called
  /// afterwards.
  virtual void leave(core::time_point deadline, handler<release_outcome> done) = 0;

  /// Ends all watches and cancels what is in flight; no handler is called afterwards. Releases
  /// nothing. Call once, last.
  virtual void close() = 0;
};

/// The variables that the store's own lock tool sets for its command, as "NAME=value": a program
/// written for `etcdctl lock` then needs no change. `sequencer` and `version` are those of a grant
/// of this kind of store.
std::vector<std::string> lock_variables(std::string_view kind, const std::string& sequencer,
                                        core::version version);

/// Makes the store `with.kind`, or says which kinds exist (settings/store_kind.hpp). Does not
/// contact the store yet.
std::expected<std::unique_ptr<store>, open_error> make_store(http::asio_loop& on, setup with);

}  // namespace tenure::stores
