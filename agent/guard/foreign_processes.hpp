#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/unique_fd.hpp"
#include "guard/process_finder.hpp"
#include "guard/recognizer.hpp"
#include "guard/target.hpp"
#include "process/own_processes.hpp"
#include "process/process_scan.hpp"
#include "process/process_set.hpp"

namespace tenure::guard {

/// Processes that are remembered at a time. More are also killed, but never reported as gone.
inline constexpr std::size_t most_members = 4096;
/// Processes whose death wakes us. When one of them is gone, another replaces it.
inline constexpr std::size_t most_pidfds = 64;
/// Containers that a target may be found in at a time.
inline constexpr std::size_t most_target_containers = 16;
/// Longest name of a container that is remembered.
inline constexpr std::size_t most_container_bytes = 1024;
/// Passes over all processes per look; after that the look counts as incomplete.
inline constexpr int most_passes = 16;
/// Descriptors that pidfds leave free: reading /proc needs one at a time.
inline constexpr int spare_descriptors = 8;

/// A workload that others start, e.g. the kubelet in the container beside ours: every process that
/// a target names, and all that belong to it.
///
/// A named process stands for its container: every process in that container belongs. If cgroups do
/// not tell containers apart, it stands for its session, or for its process group if its session is
/// also ours. Descendants of a process that belongs also belong, wherever they are now. A process
/// that belonged before still does, even if its parent or command line has changed.
///
/// Never belong: process 1, we, our ancestors and descendants, and our own container.
///
/// One thread. Only `prepare` allocates, nothing throws, and nothing waits for a process or a file
/// but the reader (`file_reader`). Death is observed: a zombie is dead, unless only its first
/// thread has ended.
class foreign_processes final : public process_finder {
 public:
  explicit foreign_processes(file_reader& reader) : recognizer_(reader) {}

  /// Allocates everything and gets all descriptors. Returns 0 or an errno value; ENOENT if /proc
  /// does not show us, our ancestors and process 1. Precondition: as for `recognizer::prepare`.
  [[nodiscard]] int prepare(settings::target what);

  tally look() override;

  /// Looks, and takes the process with this id for one that the target names, unless it is one of
  /// those that never belong. Another process of ours has found it, and it may have executed
  /// another program since.
  tally look_beside(pid_t found);

  /// True if no process is left. A failed look counts as "something is left".
  [[nodiscard]] bool empty() { return look().empty(); }

  tally signal_all(int signo) override;
  tally signal_matches(int signo, if_undecided then) override;
  tally kill_all() override;
  [[nodiscard]] bool has_deaths() const override;
  [[nodiscard]] pid_t first() const override;
  [[nodiscard]] process::survivors living() const override;

  /// Readable when a process that the last look found may have died; look again then.
  [[nodiscard]] int deaths() const { return deaths_.get(); }

  /// What the last look found, in the order of discovery.
  [[nodiscard]] std::span<const process::member> members() const { return now_.all(); }

  [[nodiscard]] const recognizer& recognizes() const { return recognizer_; }

  /// True if all visible processes descend from a process 1 that is in our container.
  [[nodiscard]] bool sees_only_ours() const { return own_.are_of_the_first(); }

 private:
  struct container {
    std::array<char, most_container_bytes> name{};
    std::size_t size = 0;  ///< 0: none
    bool used = false;     ///< by a process that this look has seen

    [[nodiscard]] std::string_view text() const { return {name.data(), size}; }
  };

  /// Where a process is, according to cgroups.
  struct place {
    std::string_view cgroups{};
    process::cgroup_verdict verdict{};
  };

  void begin_look();
  [[nodiscard]] bool pass();
  void end_look();
  [[nodiscard]] bool consider(const process::process_stat& one);
  [[nodiscard]] std::optional<place> where(const process::process_stat& one);
  [[nodiscard]] std::optional<process::bond> bond_of(const process::process_stat& one,
                                                     const place& at);
  [[nodiscard]] container* container_with(const place& at);
  [[nodiscard]] bool shares_session(const process::process_stat& one) const;
  void learn(const place& at);
  void take(const process::process_stat& one, process::bond why, bool matches,
            process::member* earlier);
  void keep_the_unseen();
  void watch_deaths();
  [[nodiscard]] bool has_ended(const process::member& one) const;
  [[nodiscard]] bool is_still(const process::member& one) const;
  [[nodiscard]] int send(const process::member& one, int signo) const;
  [[nodiscard]] bool is_undecided(const process::process_stat& one);
  [[nodiscard]] bool is_topmost(const process::member& one);
  [[nodiscard]] bool may_be_behind_another(const process::member& one);
  [[nodiscard]] tally count(std::size_t denied) const;

  recognizer recognizer_;
  process::own_processes own_;
  process::process_scan processes_;
  process::process_set now_;
  process::process_set before_;  ///< the processes of the previous look
  std::array<container, most_target_containers> containers_{};
  std::array<char, process::most_cgroup_bytes> room_{};
  base::unique_fd deaths_;     ///< an epoll of pidfds
  int last_descriptor_ = 0;    ///< the largest number that a pidfd may have
  pid_t found_elsewhere_ = 0;  ///< see `look_beside`; 0: none
  std::size_t unreadable_ = 0;
  std::size_t undecided_ = 0;  ///< how many of these are in state D
  bool complete_ = false;
  bool overflow_ = false;  ///< there was more than fits
  bool killing_ = false;
};

}  // namespace tenure::guard
