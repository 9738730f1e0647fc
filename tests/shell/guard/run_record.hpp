#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "shell/guard/modelled_guard.hpp"
#include "workload/run_record.hpp"

namespace tenure::shell {

/// What the last run of a pod has written down.
struct written_run {
  std::string session;  ///< empty: there is no record
  pid_t guard = 0;
};

/// A record in the memory of the modelled machine. Of two agents that want it at a time, as no two
/// of one pod do here, only the real one is tested.
class modelled_run_record final : public workload::run_record {
 public:
  /// `guard`: that of the present run. Writing fails if `is_full`.
  modelled_run_record(guard_machine& on, written_run& at, pid_t guard, bool is_full);

  [[nodiscard]] workload::killed_run* before() override { return before_ ? &*before_ : nullptr; }
  [[nodiscard]] bool keep(const std::string& session) override;
  void erase() override { at_ = {}; }

 private:
  written_run& at_;
  pid_t guard_;
  bool is_full_;
  std::optional<workload::killed_run> before_;
};

}  // namespace tenure::shell
