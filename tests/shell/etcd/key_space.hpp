#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store_witness.hpp"

namespace tenure::shell {

/// The keys of the modelled etcd with all that they ever were: one history of revisions, of which
/// each member has applied a part. Knows neither members nor leases' times.
///
/// A write has the revision of the open transaction: `begin`, writes, `end`.
class key_space {
 public:
  /// One write to one key.
  struct change {
    std::uint64_t mod = 0;
    std::uint64_t create = 0;
    std::string value;
    std::int64_t lease = 0;
    bool erased = false;
  };
  /// A key and its newest change at some revision.
  using found = std::pair<std::string, const change*>;

  explicit key_space(store_witness& seen_by) : witness_(seen_by) {}

  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  /// Earlier revisions are compacted: they cannot be watched any more.
  [[nodiscard]] std::uint64_t compacted() const { return compacted_; }

  /// Null: there is no such key at this revision.
  [[nodiscard]] const change* find(const std::string& key, std::uint64_t at) const;
  /// The keys from `begin` to before `end` at this revision, by name; if `end` is empty, `begin`
  /// alone.
  [[nodiscard]] std::vector<found> range(const std::string& begin, const std::string& end,
                                         std::uint64_t at) const;
  /// The present keys with this prefix, by name.
  [[nodiscard]] std::vector<found> under(const std::string& prefix) const;
  /// The keys that are attached to this lease now, by name.
  [[nodiscard]] std::vector<std::string> keys_of(std::int64_t lease) const;
  /// Calls `each` for every write from revision `from` to `to`, in their order.
  void writes(std::uint64_t from, std::uint64_t to,
              const std::function<void(const std::string&, const change&)>& each) const;

  /// Opens a transaction.
  void begin() { ++revision_; }
  /// Precondition of both: a transaction is open.
  void put(const std::string& key, const std::string& value, std::int64_t lease);
  /// False if there is no such key.
  bool erase(const std::string& key, erased_by how);
  /// Closes the transaction; one that has written nothing takes no revision. Returns whether it
  /// has written.
  bool end();

  /// Other clients write `times` times, to keys that nobody here reads.
  void others_write(std::uint64_t times) { revision_ += times; }

  /// All present keys, for a backup.
  struct backup {
    std::uint64_t revision = 0;
    std::uint64_t compacted = 0;
    std::map<std::string, std::vector<change>> keys;
    std::vector<std::pair<std::uint64_t, std::string>> log;
  };
  [[nodiscard]] backup back_up() const { return {revision_, compacted_, keys_, log_}; }
  /// `bump`: how much its revision is raised. Revisions below that are compacted if it is.
  void restore(const backup& from, std::uint64_t bump);

  void compact(std::uint64_t before) { compacted_ = std::max(compacted_, before); }

 private:
  store_witness& witness_;
  std::uint64_t revision_ = 1;
  std::uint64_t compacted_ = 0;
  std::map<std::string, std::vector<change>> keys_;
  std::vector<std::pair<std::uint64_t, std::string>> log_;  ///< keys by the revisions of changes
};

}  // namespace tenure::shell
