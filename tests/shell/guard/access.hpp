#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "guard/guard_access.hpp"
#include "shell/guard/modelled_guard.hpp"
#include "shell/process.hpp"

namespace tenure::shell {

/// What a modelled agent has of a modelled guard.
class modelled_access final : public guard::guard_access,
                              public guard::visible_workload,
                              public guard::guard_container {
 public:
  /// `guard`: its process id; 0: it is in another container.
  modelled_access(guard_machine& on, std::shared_ptr<guard_memory> memory,
                  std::shared_ptr<modelled_line> line, const std::shared_ptr<process>& loop,
                  pid_t guard, pid_t self);

  [[nodiscard]] guard::guard_connection& connection() override { return connection_; }
  [[nodiscard]] guard::guard_page& page() override { return memory_->page; }
  [[nodiscard]] tenure_page* worker_page() override { return &memory_->worker; }
  [[nodiscard]] visible_workload& workload() override { return *this; }
  [[nodiscard]] guard_container& container() override { return *this; }
  [[nodiscard]] bool await_end(std::function<void()> ended) override;

  [[nodiscard]] bool in_sight() const override { return guard_ != 0; }
  [[nodiscard]] bool comes_by_itself() const override { return on_.found.has_value(); }
  void follow(pid_t leader) override;
  void expect_mark(std::string mark) override { mark_ = std::move(mark); }
  void forget() override { leader_ = 0; }
  [[nodiscard]] guard::remains kill_all() override;
  [[nodiscard]] tenure::process::survivors doubtful() const override;

 private:
  [[nodiscard]] bool guard_exists() const;

  guard_machine& on_;
  std::shared_ptr<guard_memory> memory_;
  modelled_connection connection_;
  std::weak_ptr<process> loop_;
  pid_t guard_;
  pid_t self_;
  pid_t leader_ = 0;
  std::string mark_;
};

}  // namespace tenure::shell
