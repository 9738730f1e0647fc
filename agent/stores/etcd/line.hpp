#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/etcd/session.hpp"

namespace tenure::stores::etcd {

/// Our places in line: in each election in which we come next, a contender's key behind that of the
/// holder. When the holder deletes its key, ours is the oldest, and so we hold without a write; the
/// watch shows that, and `campaigns` takes it up. In all other elections there is no such key.
///
/// The places share a lease of their own, renewed three times in its life:
///
/// - Only while the watch is open, and only as long as it shows what looks through the quorum show.
///   Otherwise we might hold a term without knowing it, for ever: a watch that has lost an event
///   never shows it, so it is opened anew.
/// - With such a look at the same time, as for terms, so what is left of it is as sure as the lease
///   of a term: a place that becomes a term may begin with that (`session::of_places`).
/// - A place that has become a term takes the lease along: nothing here renews the lease of a term.
///   Other places are written anew with another lease.
///
/// What is there is compared with what is wanted whenever something changes, so that a write that
/// is carried out late is undone. A key of an earlier run is left to run out with its lease. Nobody
/// waits for any of it, and no failure is reported: without a place the next holder asks for the
/// lease when it is free.
///
/// Used on the session's loop only.
class line {
 public:
  /// `changed` is called in a later turn of the loop, when we may have got a place that the watch
  /// does not show yet.
  line(session& of, std::function<void(core::election_index)> changed);

  /// Whether we are to stand in line in this election, from now on.
  void want(core::election_index which, bool in_line);

  /// The mirror of this election has changed.
  void changed(core::election_index which) { settle(which); }

  /// True if this is our place, nothing that we have sent can still delete it, and the watch has
  /// had no gap since it was written.
  [[nodiscard]] bool is_firm(core::election_index which, const contender& own) const;

  /// True if we have a place, or may have one, in this election.
  [[nodiscard]] bool may_stand(core::election_index which) const;

  /// The watch has opened, for the first time or again.
  void live();

  /// Gives all places back, by the deadline or not at all. `done` is called in a later turn of the
  /// loop.
  void leave(core::time_point deadline, handler<release_outcome> done);

  void close();

 private:
  /// What a request for a place relies on.
  struct line_state {
    std::uint64_t first = 0;   ///< create_revision of who is ahead
    std::uint64_t newest = 0;  ///< the same of who came last
    std::uint64_t agreed = 0;  ///< revision of the number of slots

    friend bool operator==(const line_state&, const line_state&) = default;
  };
  struct place {
    bool is_wanted = false;
    std::int64_t lease = 0;               ///< with which it was written, and has not become a term
    bool is_busy = false;                 ///< it is being written or deleted
    bool has_news = false;                ///< something has changed meanwhile
    std::uint64_t written = 0;            ///< the revision that the last request has led to
    core::time_point answered_at{};       ///< when the last request was
    std::optional<line_state> refused{};  ///< what etcd has said is not so
  };

  /// A renewal of the places' lease.
  struct round {
    std::int64_t lease = 0;
    std::vector<core::election_index> which;
    core::time_point looked_at{};  ///< just before the look left
    std::optional<kept_or_failure> kept;
    std::optional<parsed<reads>> lines;
    quorum_view by{};
  };

  void settle(core::election_index which);
  void settle_all();
  void take(core::election_index which);
  void give_back(core::election_index which, const contender& own);
  void request(core::election_index which, const transaction& what);
  void make_lease();
  void renew();
  void ended(const round& what);
  void compare(std::vector<core::election_index> places, std::uint64_t revision);
  [[nodiscard]] line_state state_of(core::election_index which) const;
  [[nodiscard]] bool is_behind(core::election_index which) const;
  void open_anew(core::election_index behind);
  void later();

  session& session_;
  std::function<void(core::election_index)> changed_;
  std::vector<place> places_;  ///< by election
  base::timer timer_;
  std::int64_t lease_ = 0;        ///< the lease of the places; 0: none
  bool is_making_ = false;        ///< a lease is asked for
  bool watch_is_behind_ = false;  ///< it has lost an event, and is being opened anew
};

}  // namespace tenure::stores::etcd
