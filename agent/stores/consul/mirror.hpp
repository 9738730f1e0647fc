#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/vacancies.hpp"
#include "core/vocabulary.hpp"
#include "settings/election.hpp"
#include "stores/consul/codec.hpp"
#include "stores/consul/layout.hpp"
#include "stores/consul/semaphore_codec.hpp"
#include "stores/namesakes.hpp"
#include "stores/records/readiness_text.hpp"

namespace tenure::stores::consul {

/// The run that looks at an election: tells its own keys from those of others.
struct own_run {
  std::string mark;  ///< see `mark_of`
  std::string identity;
  std::set<std::string, std::less<>> sessions;   ///< sessions that this run has made or taken over
  const stores::namesakes* namesakes = nullptr;  ///< null: none is known to be over
};

/// What the lock key of an election is used for.
enum class lock_shape : std::uint8_t {
  none,       ///< there is no such key, or it says nothing
  single,     ///< a lock: its session holds
  semaphore,  ///< a semaphore: its value says who holds
  foreign,    ///< something that is neither, from another program
};

/// A session that holds a slot, and the key that it locks for it: the lock key, or with several
/// slots its contender's key.
struct slot_holder {
  std::string key;
  std::string session;
  std::string identity;
  std::string mark{};  ///< see `signature`
  core::version version = core::no_version;
  std::uint64_t index = 0;  ///< the key was written last at this index
  std::uint64_t lock_index = 0;
  bool ours = false;       ///< a run of this agent, present or past, has it
  std::uint32_t slot = 0;  ///< see core::holder
};

/// What the transaction of a campaign, of a release or of an operator relies on.
struct basis {
  lock_shape shape = lock_shape::none;
  std::uint64_t index = 0;  ///< the lock key was written last at this index; 0: there is none
  std::uint64_t flags = semaphore_flags;  ///< the flags of a semaphore's keys
  semaphore body{};           ///< a semaphore's value, with holders whose sessions are alive
  std::vector<erase> dead{};  ///< contenders whose sessions have ended
  /// Sessions of ours that lock their contenders' keys, but that others took out of the holders.
  std::vector<std::string> ousted{};
  bool is_clean = false;   ///< nothing runs in any free slot
  std::uint32_t slot = 0;  ///< a slot that no holder has
};

/// What a member offers that comes next: its session, for which the holder may lock the key when it
/// releases its own lock.
struct place_offer {
  std::string session;
  std::string identity;
  std::string mark;
};

/// An order under the election's prefix of orders.
struct kept_order {
  core::left_order order;
  std::uint64_t index = 0;  ///< its key was written last at this index
};

/// What Consul holds of one election, according to the last read or answer of the watch.
///
/// Pure: no I/O, no clock. Not thread-safe.
class mirror {
 public:
  /// `self` must outlive it.
  mirror(settings::election election, const own_run& self);

  /// The prefix of all its keys: "db/".
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

  /// Takes over all keys of the election as of `index`, when changes may have been missed. After a
  /// restore the index may be an earlier one.
  void replace(std::span<const key_value> all, std::uint64_t index);

  /// The same, as the next thing that an unbroken watch shows.
  void follow(std::span<const key_value> all, std::uint64_t index);

  /// Keys that are there by what was shown so far, or that we have written, and that `all` as of
  /// `index` does not have. They may be gone, or the token may not read them any more.
  [[nodiscard]] std::vector<std::string> vanished(std::span<const key_value> all,
                                                  std::uint64_t index) const;

  /// We have written this key at `index`: a later state that does not have it is news.
  void expect(std::string key, std::uint64_t index) {
    expected_ = {.key = std::move(key), .index = index};
  }

  /// What is shown is as of this index or a later one. 0: nothing is known.
  [[nodiscard]] std::uint64_t index() const { return index_; }

  /// Lowest version first.
  [[nodiscard]] std::span<const slot_holder> holders() const { return holders_; }

  /// Our own term; null if there is none.
  [[nodiscard]] const slot_holder* find_own() const;

  /// Another member's term; null if that is over. Programs without our signature have no terms
  /// here.
  [[nodiscard]] const slot_holder* find_term(const core::holder& whose) const;

  /// True if another session can hold at once.
  [[nodiscard]] bool has_room() const { return holders_.size() < slots(); }

  /// True if the number of slots is the one in our settings, or may become it with our term, as
  /// nobody holds.
  [[nodiscard]] bool agrees() const { return slots() == election_.slots || holders_.empty(); }

  /// True if the lock key is as the end of its holder's session leaves it: nobody holds it, and it
  /// still says `text`, written when it was locked for the time `lock_index`.
  [[nodiscard]] bool lock_is_left_as(std::string_view text, std::uint64_t lock_index) const;

  /// Why nobody can hold: what the lock key is, and what to do; empty if somebody can.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  [[nodiscard]] basis basis_now() const;

  /// The offer of another member that is ready: of `heir`, or if that is empty, the one that was
  /// written first. Nothing: there is none, or the election is not one lock.
  [[nodiscard]] std::optional<place_offer> offer_of(std::string_view heir) const;

  /// The present term of a lock that began when nothing of an earlier one still ran; `no_version`:
  /// that is not known of it.
  [[nodiscard]] core::version began_clean() const { return began_clean_; }

  [[nodiscard]] core::agreement agreed() const;
  /// The index of the agreement's key; 0: there is none.
  [[nodiscard]] std::uint64_t agreement_index() const { return agreement_index_; }
  /// When versions were last accepted, by everything that this mirror has ever shown: a restored
  /// store may show an earlier acceptance, or none. 0: never.
  [[nodiscard]] std::int64_t last_accepted_unix_ms() const { return last_accepted_unix_ms_; }

  /// The order with that key, or null.
  [[nodiscard]] const kept_order* order(std::string_view key) const;

  /// Consul grants nothing before a lock-delay is over, and no watch says when. Until the lock is
  /// granted again, an observation says to try at `when`.
  void delay(core::time_point when) { retry_at_ = when; }

  /// Who has our name in the list of members.
  [[nodiscard]] names_like_ours names() const;

  [[nodiscard]] core::observation observe() const;

 private:
  struct listed {
    std::string identity;
    std::string session;
    std::string mark;
    std::uint64_t create_index = 0;
    bool ours = false;
  };

  struct offered {
    std::string session;
    std::uint64_t index = 0;  ///< it was written last at this index
  };

  struct written_key {
    std::string key;  ///< empty: none
    std::uint64_t index = 0;
  };

  [[nodiscard]] const core::member_list& listed_members() const;
  void read(std::span<const key_value> all);
  void read_lock(const key_value& kv);
  void read_contenders(std::span<const key_value> all);
  void read_record(const key_value& kv);
  [[nodiscard]] std::string_view name_below(const key_value& kv) const;
  [[nodiscard]] slot_holder holder_of(const key_value& kv) const;
  [[nodiscard]] static slot_holder stranger_by(const key_value& kv);
  [[nodiscard]] std::uint64_t turns() const;
  [[nodiscard]] bool identity_in_use() const;
  [[nodiscard]] std::uint32_t free_slots() const;
  [[nodiscard]] std::uint32_t slots() const { return limit_ > 0 ? limit_ : election_.slots; }

  settings::election election_;
  const own_run* self_;
  std::string prefix_;
  std::string lock_key_;
  std::uint64_t index_ = 0;

  // What the last read has shown.
  lock_shape shape_ = lock_shape::none;
  std::string trouble_;
  std::uint64_t lock_index_ = 0;  ///< how often the lock key was locked
  std::uint64_t created_ = 0;     ///< the lock key was created at this index
  std::uint64_t written_ = 0;     ///< and written last at this one
  std::string lock_text_;         ///< what it says, of a lock that nobody holds
  std::uint64_t flags_ = semaphore_flags;
  semaphore body_;
  std::uint32_t limit_ = 0;  ///< slots by the lock key; 0: there is none
  std::vector<slot_holder> holders_;
  std::vector<erase> dead_;
  std::vector<std::string> ousted_;                            ///< sessions
  std::map<std::string, listed, std::less<>> members_;         ///< by key
  all_readiness ready_;                                        ///< by session
  std::map<std::string, std::uint64_t, std::less<>> answers_;  ///< by session, see `namesake`
  /// The list that `members_` and `ready_` make, once it was asked for.
  mutable std::optional<core::member_list> listed_members_;
  std::map<std::string, offered, std::less<>> offers_;     ///< by session
  std::map<std::string, kept_order, std::less<>> orders_;  ///< by key
  core::agreement accepted_;  ///< versions that an operator has accepted
  std::uint64_t agreement_index_ = 0;
  std::optional<core::release_record> last_release_;
  core::version released_ = core::no_version;  ///< the term released last, if cleanly

  written_key expected_;  ///< by us, and not seen yet
  std::int64_t last_accepted_unix_ms_ = 0;
  core::time_point retry_at_ = core::never;
  core::version began_clean_ = core::no_version;
  core::vacancies vacancies_;  ///< at first, nothing is known about any slot
};

}  // namespace tenure::stores::consul
