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
#include "settings/election.hpp"
#include "settings/security.hpp"

/// The contract between Tenure and a store. tests/contract runs over every store against its
/// real server.
///
/// Every outcome is one of: done, refused (somebody else holds it), lost (the store's own word
/// that it is no longer ours), unknown (it may or may not have happened). A table in each store's
/// file maps every error of that store to one of the four; whatever is not in it is unknown.
namespace tenure::http {
class asio_loop;
}

namespace tenure::stores {

/// It may or may not have happened. `why` is for a person: what failed, against what, and what
/// to do next if there is anything. Never contains a secret.
struct unknown {
  std::string why;
};

/// The lease is ours.
struct grant {
  core::version version = core::no_version;
  std::string sequencer;          ///< the store's own proof of this term, opaque
  core::duration ttl{};           ///< as granted
  core::time_point sent_at{};     ///< before the first byte of the request left, or earlier
  bool released_cleanly = false;  ///< the previous holder is known to have released
};

/// Others hold all slots.
struct refusal {
  core::observation seen;
};

using acquire_outcome = std::variant<grant, refusal, unknown>;

/// Every term asked for holds `ttl` from `sent_at`, but for those in `lost`.
struct renewal {
  core::time_point sent_at{};
  core::duration ttl{};
  std::vector<core::renewal_loss> lost;
};

using renew_outcome = std::variant<renewal, unknown>;

/// How a term is given up.
struct release_details {
  /// Nothing that ran under this or an earlier term is alive.
  bool clean = false;
  core::loss_reason why = core::loss_reason::none;
  std::string heir{};           ///< see core::release_record
  std::int64_t at_unix_ms = 0;  ///< see core::release_record
};

/// Released, or there was nothing of ours left to release.
struct released {};

using release_outcome = std::variant<released, unknown>;

/// An order was left, answered or dropped.
struct order_written {
  /// False: it was not there any more, or somebody else had answered it before.
  bool done = true;
  /// Of one that was dropped: what a member had answered until then; that member obeys. Nothing
  /// if nobody had, and then nobody will.
  std::optional<core::order_reply> reply{};
};

using order_outcome = std::variant<order_written, unknown>;
using read_outcome = std::variant<core::observation, unknown>;

/// What an operator changes in what an election is.
struct agreement_change {
  std::uint32_t slots = 0;       ///< 0: as many as before
  bool accept_versions = false;  ///< from what the store has now on; see core::agreement
};

/// It cannot be changed so now: why, and what to do.
struct not_agreed {
  std::string why;
  std::string action;
};

/// So many hold, or wait for it, that there cannot be fewer slots.
not_agreed too_many_hold(std::string_view election, std::size_t holders, std::uint32_t slots);

/// What is agreed from now on.
using agree_outcome = std::variant<core::agreement, not_agreed, unknown>;

/// What a store says of itself once it was reached.
struct description {
  std::string store;           ///< "sqlite", "etcd", ...
  std::string server_version;  ///< empty if it was not reached yet
  std::string cluster_id;      ///< published with the version: a restored store may move back
  core::duration store_lock_delay{};  ///< added by the store between a loss and the next grant
  core::duration expiry_lag{};        ///< how late the store itself may notice an expiry
  core::duration min_ttl{};
  core::duration max_ttl = core::duration::max();
  std::vector<std::string> warnings;  ///< one line each, for the log
};

/// A configuration that cannot work: what failed, against what, what to do. The agent ends.
struct open_error {
  std::string text;
};

/// What somebody who reads the log should know of a store that is in use.
struct notice {
  bool is_trouble = true;  ///< false: what was told before is mended
  std::string text;        ///< one line
};

/// What a store is opened with. An election is named by its place in `elections` from then on.
struct setup {
  std::string kind;                    ///< "sqlite", "etcd", ...
  std::vector<std::string> endpoints;  ///< URLs; a path for SQLite
  std::string identity;                ///< shown to others as the holder
  std::string session;                 ///< of this incarnation: no other agent ever uses it
  core::duration ttl{};                ///< asked for
  std::vector<settings::election> elections;
  bool announce = false;  ///< be one of the `members` that the store shows, if it can
  settings::security secure{};
  /// Is told of each answer and each failure, whoever has asked. At least every ttl /
  /// core::store_looks_per_ttl the store has something to answer, also while nobody asks anything.
  /// Called on the loop, also from within a call: it must not call the store.
  std::function<void(const core::contact_event&)> hears{};
  /// Is told what goes wrong without failing a request: once when it begins, and once when it is
  /// over, if that can be told. Called as `hears` is. What is so at the start is in
  /// `description::warnings`.
  std::function<void(const notice&)> notes{};
  /// The wall clock, in milliseconds since 1970.
  std::function<std::int64_t()> wall_ms = base::wall_now_ms;
};

/// For so long a member can take an order that was left for it. One that lives takes it in
/// milliseconds.
inline constexpr core::duration order_lasts = std::chrono::seconds(4);
/// For so long the store shows it: whoever takes an order back when its time is over finds it
/// there, and so learns whether it was answered.
inline constexpr core::duration order_stays = order_lasts + std::chrono::seconds(1);

template <class Outcome>
using handler = std::move_only_function<void(Outcome)>;

/// What a watch shows: the present state first, then every change; or why it broke, once, after
/// which it is silent until it is opened again.
using watch_handler = std::function<void(std::variant<core::observation, unknown>)>;

/// A store that leases are kept in.
///
/// All calls are made, and all handlers are called, on the loop it was made with; no call
/// blocks it. A handler is never called from within the call that it was given to. Operations
/// end by their deadline, `unknown` at the latest. No exception crosses this interface.
class store {
 public:
  virtual ~store() = default;

  /// Once, before anything else. A server that cannot be reached is not an error: the store goes
  /// on trying, and says so in `warnings`, as each operation does that fails.
  virtual void open(handler<std::expected<description, open_error>> done) = 0;

  /// What the store has said of itself so far: of a server that was not reached yet, little.
  [[nodiscard]] virtual description describe() const = 0;

  /// Asks for a lease. The first who does so in an election writes down for how many slots it is;
  /// whoever is set up for another number is refused. Idempotent for one session: if it holds one
  /// already, that is renewed and granted with the same version. A new version is larger than
  /// `above` where the store makes its own versions.
  virtual void acquire(core::election_index which, core::version above, core::time_point deadline,
                       handler<acquire_outcome> done) = 0;

  /// Renews all `items` in one call where the store can; `ttl` is the one of the settings.
  virtual void renew(std::vector<core::renewal_item> items, core::time_point deadline,
                     handler<renew_outcome> done) = 0;

  /// Gives up the term of `version`, if it is still ours; with `no_version`, whatever our session
  /// holds in this election. After one that is clean the next grant may be `released_cleanly`;
  /// otherwise it must not be. Where a term is named, its farewell is shown with what the watch
  /// shows from then on. Carried out late, a release must not touch a term that was granted after
  /// this call.
  virtual void release(core::election_index which, core::version version, release_details how,
                       core::time_point deadline, handler<release_outcome> done) = 0;

  /// What the store holds now, linearizable.
  virtual void read(core::election_index which, core::time_point deadline,
                    handler<read_outcome> done) = 0;

  /// Opens or re-opens the watch of one election. Pushed, never polled, where the store can.
  virtual void watch(core::election_index which, watch_handler seen) = 0;

  /// Changes what the election is for all its members; their watches show it. Fewer slots than are
  /// held or waited for are `not_agreed`, and so is what a store has no use for.
  virtual void agree(core::election_index which, agreement_change what, core::time_point deadline,
                     handler<agree_outcome> done) = 0;

  /// Leaves an order where the watches of all members show it, for `order_stays`.
  virtual void leave_order(core::election_index which, core::left_order what,
                           core::time_point deadline, handler<order_outcome> done) = 0;

  /// Answers an order that the watch has shown. Of all who try only one is told that it has done
  /// so: that one carries it out. Carried out late, this answers nothing that was dropped before.
  virtual void answer_order(core::election_index which, const std::string& id,
                            core::order_reply reply, core::time_point deadline,
                            handler<order_outcome> done) = 0;

  /// Takes an order away, answered or not, and says which. Once that is done, nobody can answer it
  /// any more. What became of one that was not there cannot be told: it may have been answered
  /// before it was gone, and a drop that is repeated finds nothing.
  virtual void drop_order(core::election_index which, const std::string& id,
                          core::time_point deadline, handler<order_outcome> done) = 0;

  /// Takes our name from the members that the store shows, if it is there, by the deadline. `done`
  /// is called in any case, unless the store is closed before. Nothing else is asked for
  /// afterwards.
  virtual void leave(core::time_point deadline, handler<release_outcome> done) = 0;

  /// Ends all watches and cancels what is in flight; no handler is called afterwards. Releases
  /// nothing. Called once, last.
  virtual void close() = 0;
};

/// What the store's own lock tool tells its command, as "NAME=value": what was written for
/// `etcdctl lock` then needs no change. `sequencer` and `version` are those of a grant of this
/// kind.
std::vector<std::string> lock_variables(std::string_view kind, const std::string& sequencer,
                                        core::version version);

/// The kinds that this build has, e.g. {"sqlite"}.
std::vector<std::string_view> store_kinds();

/// How late a store of this kind may notice that a lease has run out; zero for an unknown kind.
core::duration expiry_lag_of(std::string_view kind);

/// Makes the store `with.kind`, or says which kinds there are. Does not touch the store yet.
std::expected<std::unique_ptr<store>, open_error> make_store(http::asio_loop& on, setup with);

}  // namespace tenure::stores
