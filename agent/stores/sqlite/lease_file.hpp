#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stores/sqlite/lease_table.hpp"
#include "stores/sqlite/membership.hpp"

namespace tenure::stores::sqlite {

/// The lease file under its name. When the file is deleted or replaced, the next operation opens
/// (or makes) the new one, and all terms granted from the old one are over.
///
/// The new file grants nothing until the workloads of all members that hold by the old one have
/// stopped. Its versions continue above those of the old one, as far as the members' files tell.
///
/// Blocks. Not thread-safe.
class lease_file {
 public:
  /// `stop` ends all waiting early; `stop` and `waits_by` must outlive this object.
  lease_file(std::string path, member self, std::vector<settings::election> elections,
             bool announce, const std::atomic<bool>& stop,
             const thread_clock& waits_by = kernel_clock());

  /// Opens the file for the first time. Returns warnings, or why it cannot be opened.
  std::expected<std::vector<std::string>, std::string> open(core::time_point deadline);

  acquire_outcome acquire(core::election_index which, core::version above,
                          core::time_point deadline);
  renew_outcome renew(std::span<const core::renewal_item> items, core::time_point deadline);
  release_outcome release(core::election_index which, core::version version,
                          const release_details& how, core::time_point deadline);
  release_outcome end_term(core::election_index which, const core::holder& whose,
                           const release_details& how, core::time_point deadline);
  std::optional<unknown> line_up(std::span<const core::election_index> stand,
                                 std::span<const core::election_index> leave,
                                 core::time_point deadline);
  order_outcome leave_order(core::election_index which, const core::left_order& what,
                            core::time_point deadline);
  order_outcome answer_order(core::election_index which, const std::string& id,
                             const core::order_reply& reply, core::time_point deadline);
  order_outcome drop_order(core::election_index which, const std::string& id,
                           core::time_point deadline);
  std::expected<std::vector<looked>, unknown> read(std::span<const core::election_index> which,
                                                   core::time_point deadline);

  /// What the list of members says of us in this election from now on.
  void say(core::election_index which, const core::readiness& what) {
    members_.say(subject_of(which).election, what);
  }

  /// News since the last call, besides failures.
  std::vector<notice> take_notices() { return std::exchange(notices_, {}); }

  /// Removes our name from the members.
  void leave() { members_.leave(); }

  [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }

 private:
  template <class Operation>
  auto with_table(core::time_point deadline, Operation operation)
      -> std::expected<decltype(operation(std::declval<lease_table&>())), unknown>;
  template <class Operation>
  auto asked(core::time_point deadline, Operation operation)
      -> decltype(operation(std::declval<lease_table&>()));
  std::expected<std::string, std::string> reopen(core::time_point deadline);
  std::string news_of_replacement();
  void look_at_members_directory();
  [[nodiscard]] subject subject_of(core::election_index which) const;
  [[nodiscard]] std::vector<subject> subjects_of(std::span<const core::election_index> which) const;
  [[nodiscard]] patience until(core::time_point deadline) const {
    return {deadline, &stop_, &waits_by_};
  }

  std::string path_;
  member self_;
  std::vector<settings::election> elections_;
  bool announce_;
  const std::atomic<bool>& stop_;
  const thread_clock& waits_by_;
  membership members_;
  std::string cluster_id_;
  std::vector<notice> notices_;
  core::time_point told_wait_until_{};    ///< the delay of grants that was reported last
  bool members_directory_usable_ = true;  ///< as reported last
  std::unique_ptr<lease_table> table_;
};

}  // namespace tenure::stores::sqlite
