#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/vocabulary.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// A key under the prefix of an election.
struct contender {
  std::string key;
  std::string identity;  ///< its value, or the key where that is empty (`etcdctl lock`)
  std::uint64_t create_revision = 0;
  std::int64_t lease = 0;
  bool after_release = false;  ///< nothing of an earlier holder ran when it came
};

/// What etcd holds of one election, as far as reads and events have told.
///
/// Pure: no I/O, no clock. Not thread-safe.
class mirror {
 public:
  explicit mirror(election_spec election);

  /// Every key of the election's range, as of `revision`, when events may have been missed since
  /// the last one that is known. A revision may be an earlier one: of a restored store.
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

  /// True if a new contender would hold at once.
  [[nodiscard]] bool has_room() const { return contenders_.size() < election_.slots; }

  [[nodiscard]] core::observation observe() const;

 private:
  void add(const key_value& kv);
  void remove(std::string_view key);
  void note_release(std::string_view record);
  [[nodiscard]] bool is_record(std::string_view key) const { return key == record_; }
  [[nodiscard]] std::uint32_t free_slots() const;

  election_spec election_;
  std::string prefix_;
  std::string record_;
  std::string member_prefix_;
  std::map<std::string, std::string, std::less<>> members_;  ///< name of each, by its key
  std::optional<core::farewell> parting_;
  std::vector<contender> contenders_;  ///< sorted by create_revision
  std::uint64_t released_ = 0;         ///< the term that was released last, if it was cleanly
  std::uint64_t revision_ = 0;
  /// Free slots whose last holder was not seen to release: its workload may still run. Nothing is
  /// known about any of them at first.
  std::uint32_t doubtful_;
};

}  // namespace tenure::stores::etcd
