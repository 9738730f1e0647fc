#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/vacancies.hpp"
#include "core/vocabulary.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/etcd/layout.hpp"
#include "stores/etcd/requests.hpp"
#include "stores/free_slot.hpp"
#include "stores/namesakes.hpp"
#include "stores/records/readiness_text.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// A key under the prefix of an election.
struct contender {
  std::string key;
  std::string identity;  ///< its value, or the key where that is empty (`etcdctl lock`)
  std::uint64_t create_revision = 0;
  std::int64_t lease = 0;
  bool ours = false;           ///< written by this very run
  bool after_release = false;  ///< nothing of an earlier holder still ran when it began to hold
  std::uint32_t slot = 0;      ///< see core::holder
};

/// (key, create_revision), with which a program can ask etcd whether a term still lasts.
std::string sequencer_of(const contender& one);

/// The run that looks at an election: tells its own keys from those of others.
struct own_run {
  lease_ids ids;
  std::string identity;
  const stores::namesakes* namesakes = nullptr;  ///< null: none is known to be over
};

/// An order under the election's prefix of orders.
struct kept_order {
  core::left_order order;
  std::int64_t lease = 0;
};

/// What etcd holds of one election, according to the reads and events so far.
///
/// Pure: no I/O, no clock. Not thread-safe.
class mirror {
 public:
  /// `self` must outlive it.
  mirror(settings::election election, const own_run& self);

  /// Replaces everything by the keys of the election's range as of `revision`, when events may have
  /// been missed. After a restore the revision may be an earlier one, or the same one with other
  /// keys.
  void replace(std::span<const key_value> all, std::uint64_t revision);

  /// Applies events in the order of their revisions. Skips those that are known already.
  void apply(std::span<const watch_event> events);

  /// The mirror is complete up to this revision. 0: nothing is known.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  /// True if the mirror shows exactly these contenders.
  [[nodiscard]] bool shows(std::span<const key_value> all) const;

  /// Holders first, then those that wait behind them: lowest create_revision first.
  [[nodiscard]] std::span<const contender> contenders() const { return contenders_; }

  /// The contender with that key; nullptr if there is none, or if it belongs to another term.
  [[nodiscard]] const contender* find(std::string_view key, std::uint64_t create_revision) const;

  /// The contender with this term; nullptr if that is over, or ours.
  [[nodiscard]] const contender* find_term(const core::holder& whose) const;

  /// True if this contender is one of the holders.
  [[nodiscard]] bool holds(const contender& one) const;

  /// A term that is over although its key is there still, and our place behind it, which has become
  /// a term with that: by their create_revision. Nothing: 0. See words.hpp.
  struct passing {
    std::uint64_t ended = 0;
    std::uint64_t ours = 0;
  };
  /// The one that holds has told us that its term is over. From now on the second contender counts
  /// as the holder, as long as both are there. Preconditions: one slot; the second is ours.
  void passed_on();
  [[nodiscard]] const passing& passed() const { return passed_; }
  /// What another mirror of this election knows of that.
  void know(const passing& what) { passed_ = what; }

  /// What the seal beside the key of this contender says; nullptr: it has none of its own.
  [[nodiscard]] const std::string* seal_of(const contender& one) const;
  /// Where the one member of this identity is told a word; empty: nowhere, or nobody knows which
  /// member it is.
  [[nodiscard]] std::string peer_of(std::string_view identity) const;

  /// The keys of members that wait in line, but for `heir`. Other programs wait on.
  [[nodiscard]] std::vector<std::string> places_besides(std::string_view heir) const;

  /// Our own contender; nullptr if there is none.
  [[nodiscard]] const contender* find_own() const;

  /// True if a new contender would hold at once.
  [[nodiscard]] bool has_room() const { return contenders_.size() < slots(); }

  /// The largest create_revision of a contender; 0 if there is none.
  [[nodiscard]] std::uint64_t newest() const {
    return contenders_.empty() ? 0 : contenders_.back().create_revision;
  }

  [[nodiscard]] const core::agreement& agreed() const { return agreed_; }
  /// When versions were last accepted, by everything that this mirror has ever shown: a restored
  /// store may show an earlier acceptance, or none. 0: never.
  [[nodiscard]] std::int64_t last_accepted_unix_ms() const { return last_accepted_unix_ms_; }

  /// The present state, for a transaction that relies on it.
  [[nodiscard]] basis basis_now() const {
    return {.newest = newest(),
            .agreed = agreed_revision_,
            .said = agreed_,
            .slot = free_slot(contenders_, &contender::slot)};
  }

  /// True if the number of slots is the one in our settings, or may become it with our term, as
  /// nobody contends.
  [[nodiscard]] bool agrees() const { return slots() == election_.slots || contenders_.empty(); }

  /// Who has our name in the list of members.
  [[nodiscard]] names_like_ours names() const;

  /// True if another run uses our identity, and appeared before us or already contends. A member
  /// that is over counts no longer (namesakes.hpp).
  [[nodiscard]] bool identity_in_use() const;

  /// The order with that key, or nullptr.
  [[nodiscard]] const kept_order* order(std::string_view key) const;

  [[nodiscard]] core::observation observe() const;

  /// Grows with each change of what `observe` shows, but for one of the members alone.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  [[nodiscard]] std::size_t member_count() const { return members_.size(); }

 private:
  void add(const key_value& kv);
  void remove(std::string_view key);
  void note(const key_value& kv);
  [[nodiscard]] bool is_of_members(std::string_view key) const;
  [[nodiscard]] const core::member_list& listed_members() const;
  void note_release(std::string_view record);
  void note_agreement(std::string_view text, std::uint64_t revision);
  [[nodiscard]] std::ptrdiff_t first_holder() const;
  [[nodiscard]] bool may_be_followed(const contender& gone) const;
  [[nodiscard]] std::uint32_t free_slots() const;
  [[nodiscard]] std::uint32_t slots() const {
    return agreed_.slots > 0 ? agreed_.slots : election_.slots;
  }

  struct listed {
    std::string identity;
    std::uint64_t create_revision = 0;
    bool ours = false;
  };

  struct said_beside {
    std::string peer;
    std::optional<std::uint64_t> answers;
  };

  struct seal {
    std::string public_key;
    std::uint64_t revision = 0;
  };

  settings::election election_;
  const own_run* self_;
  std::string prefix_;
  std::string record_;
  std::string agreement_key_;
  std::string member_prefix_;
  std::string ready_prefix_;
  std::string seal_prefix_;
  std::string order_prefix_;
  std::map<std::string, listed, std::less<>> members_;      ///< by key
  all_readiness ready_;                                     ///< by key
  std::map<std::string, said_beside, std::less<>> beside_;  ///< by the same
  std::map<std::string, seal, std::less<>> seals_;          ///< by key
  std::map<std::string, kept_order, std::less<>> orders_;   ///< by key
  /// The list that `members_` and `ready_` make, until they change.
  mutable std::optional<core::member_list> listed_members_;
  core::agreement agreed_;
  std::int64_t last_accepted_unix_ms_ = 0;
  std::uint64_t agreed_revision_ = 0;  ///< revision of its key; 0: there is no agreement
  std::optional<core::release_record> last_release_;
  std::vector<contender> contenders_;  ///< sorted by create_revision
  std::uint64_t released_ = 0;         ///< the term that was released last, if cleanly; else 0
  std::uint64_t told_ = 0;             ///< its holder has told this place so; 0: none
  passing passed_;
  std::uint64_t revision_ = 0;
  std::uint64_t changes_ = 0;
  core::vacancies vacancies_;  ///< at first, nothing is known about any slot
};

}  // namespace tenure::stores::etcd
