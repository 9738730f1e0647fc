#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stores/kubernetes/shared_state.hpp"
#include "stores/turnstile.hpp"

namespace tenure::stores::kubernetes {

/// `acquire` for Kubernetes: one write that takes the smallest slot that can be taken, relying on
/// all that its Lease says.
///
/// A Lease that somebody holds can be taken once it has not changed for as long as it says, by our
/// own clock since we saw the change. Its holder counts from when it sent its last renewal, which
/// is earlier. The write fails if there has been a renewal that we have not seen.
///
/// Used on its loop only.
class campaigns {
 public:
  explicit campaigns(shared_state& of) : shared_(of), turns_(of.loop) {}

  void acquire(core::election_index which, core::time_point deadline,
               handler<acquire_outcome> done);

  void close() { turns_.close(); }

 private:
  struct attempt {
    core::election_index which{};
    core::time_point deadline{};
    handler<acquire_outcome> done;
    int tries = 0;
    reliance last{};
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  void begin(const attempt_ptr& a);
  [[nodiscard]] bool may_look(const attempt_ptr& a);
  void look_first(const attempt_ptr& a);
  void look_at(const attempt_ptr& a, std::uint32_t slot);
  void judge(const attempt_ptr& a);
  void change_slots(const attempt_ptr& a);
  [[nodiscard]] std::optional<std::uint32_t> doubtful_slot(core::election_index which) const;
  [[nodiscard]] bool may_write(const attempt_ptr& a, const std::string& name,
                               const lease_object* lease);
  void write_list(const attempt_ptr& a, const list_change& what);
  void campaign(const attempt_ptr& a, const vacancy& of);
  void asked(const attempt_ptr& a, const vacancy& of,
             const std::expected<written_lease, call_failure>& what);
  void note_version(const attempt_ptr& a, const lease_object& lease);
  void adopt(const attempt_ptr& a, const slot_holder& own);
  void won(const attempt_ptr& a, const held_term& held, core::time_point sent_at);
  void fail(const attempt_ptr& a, std::string why);
  void finish(const attempt_ptr& a, acquire_outcome outcome);

  shared_state& shared_;
  turnstile turns_;
  /// By election: what the last write that was to take a slot relied on, if nobody has answered it.
  /// The version is that of the Lease; 0: there was none.
  std::map<std::size_t, std::pair<std::uint32_t, std::uint64_t>> in_doubt_;
  std::map<std::string, std::int64_t> acquired_ms_;  ///< by Lease: what we have written last
};

}  // namespace tenure::stores::kubernetes
