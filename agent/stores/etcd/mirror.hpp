#pragma once

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
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// A key under the prefix of an election.
struct contender {
  std::string key;
  std::string identity;  ///< its value, or the key where that is empty (`etcdctl lock`)
  std::uint64_t create_revision = 0;
  std::int64_t lease = 0;
  bool ours = false;           ///< of this very run
  bool after_release = false;  ///< nothing of an earlier holder ran when it came
};

/// Who looks at an election: tells its own keys from those of others.
struct own_run {
  lease_ids ids;
  std::string identity;
};

/// An order under the election's prefix of orders.
struct kept_order {
  core::left_order order;
  std::int64_t lease = 0;
};

/// What etcd holds of one election, as far as reads and events have told.
///
/// Pure: no I/O, no clock. Not thread-safe.
class mirror {
 public:
  /// `self` must outlive it.
  mirror(settings::election election, const own_run& self);

  /// Every key of the election's range, as of `revision`, when events may have been missed since
  /// the last one that is known. A revision may be an earlier one, or the same one with other keys:
  /// of a restored store.
  void replace(std::span<const key_value> all, std::uint64_t revision);

  /// Events, in the order of their revisions. Those that are known already are skipped.
  void apply(std::span<const watch_event> events);

  /// Everything up to here is known. 0: nothing is.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  /// True if these keys are what is known already.
  [[nodiscard]] bool shows(std::span<const key_value> all) const;

  /// Holders first and who waits behind them: lowest create_revision first.
  [[nodiscard]] std::span<const contender> contenders() const { return contenders_; }

  /// The contender with that key; nullptr if there is none, or it is of another term.
  [[nodiscard]] const contender* find(std::string_view key, std::uint64_t create_revision) const;

  /// True if this contender is one of the holders.
  [[nodiscard]] bool holds(const contender& one) const;

  /// Our own contender; nullptr if there is none.
  [[nodiscard]] const contender* find_own() const;

  /// True if a new contender would hold at once.
  [[nodiscard]] bool has_room() const { return contenders_.size() < slots(); }

  /// The largest create_revision of a contender; 0 if there is none.
  [[nodiscard]] std::uint64_t newest() const {
    return contenders_.empty() ? 0 : contenders_.back().create_revision;
  }

  [[nodiscard]] const core::agreement& agreed() const { return agreed_; }
  /// When versions were accepted last, by all that this mirror has ever shown: a restored store may
  /// show an earlier acceptance, or none. 0: never.
  [[nodiscard]] std::int64_t last_accepted_unix_ms() const { return last_accepted_unix_ms_; }

  /// What this is, for a transaction that relies on it.
  [[nodiscard]] basis basis_now() const {
    return {.newest = newest(), .agreed = agreed_revision_, .is_agreed = agreed_.slots > 0};
  }

  /// True unless the election is for another number of holders than our settings say.
  [[nodiscard]] bool agrees() const { return slots() == election_.slots; }

  /// True if another run has our identity, and came before us or contends already.
  [[nodiscard]] bool identity_in_use() const;

  /// The order with that key, or nullptr.
  [[nodiscard]] const kept_order* order(std::string_view key) const;

  [[nodiscard]] core::observation observe() const;

 private:
  void add(const key_value& kv);
  void remove(std::string_view key);
  void note(const key_value& kv);
  void note_release(std::string_view record);
  void note_agreement(std::string_view text, std::uint64_t revision);
  [[nodiscard]] std::uint32_t free_slots() const;
  [[nodiscard]] std::uint32_t slots() const {
    return agreed_.slots > 0 ? agreed_.slots : election_.slots;
  }

  struct listed {
    std::string identity;
    std::uint64_t create_revision = 0;
    bool ours = false;
  };

  settings::election election_;
  const own_run* self_;
  std::string prefix_;
  std::string record_;
  std::string agreement_key_;
  std::string member_prefix_;
  std::string order_prefix_;
  std::map<std::string, listed, std::less<>> members_;     ///< by their keys
  std::map<std::string, kept_order, std::less<>> orders_;  ///< by their keys
  core::agreement agreed_;
  std::int64_t last_accepted_unix_ms_ = 0;
  std::uint64_t agreed_revision_ = 0;  ///< of its key; 0: there is none
  std::optional<core::release_record> last_release_;
  std::vector<contender> contenders_;  ///< sorted by create_revision
  std::uint64_t released_ = 0;         ///< the term that was released last, if it was cleanly
  std::uint64_t revision_ = 0;
  core::vacancies vacancies_;  ///< nothing is known about any slot at first
};

}  // namespace tenure::stores::etcd
