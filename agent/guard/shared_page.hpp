#pragma once

#include "base/unique_fd.hpp"
#include "guard/guard_page.hpp"
#include "process/shared_memory.hpp"

namespace tenure::guard {

/// The page that guard and agent share. Stays mapped while the object lives.
class shared_page {
 public:
  /// The guard's side: creates the page and its descriptor. False if the kernel refuses.
  [[nodiscard]] bool make();

  /// The agent's side: maps the page behind `fd`. False if it is not a guard's page or has another
  /// layout.
  [[nodiscard]] bool map(base::unique_fd fd);

  [[nodiscard]] const base::unique_fd& fd() const { return memory_.fd(); }
  guard_page* operator->() { return page_; }
  const guard_page* operator->() const { return page_; }
  /// Precondition: made or mapped.
  [[nodiscard]] guard_page& operator*() { return *page_; }

 private:
  process::shared_memory memory_;
  guard_page* page_ = nullptr;
};

}  // namespace tenure::guard
