// The page that agent and guard share: a reader never gets one term's deadlines for another term.
#include "guard/guard_page.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace tenure::guard {
namespace {

/// A reader that looks while a new term is armed finds no deadline or the new term's.
TEST(GuardPage, DeadlineOfOneTermIsNeverThatOfAnother) {
  constexpr std::uint64_t terms = 300'000;
  const auto page = std::make_unique<guard_page>();
  std::atomic<std::uint64_t> newest{0};
  std::atomic<std::uint64_t> wrong{0};
  std::thread guard([&] {
    while (newest.load() < terms) {
      // The term that is armed next, or was armed last.
      for (const std::uint64_t version : {newest.load() + 1, newest.load()}) {
        const auto found = page->deadlines_of(core::version{version});
        const core::time_point right{std::chrono::seconds(version)};
        if (found && found->kill_at != right) ++wrong;
      }
    }
  });
  for (std::uint64_t version = 1; version <= terms; ++version) {
    const core::time_point until{std::chrono::seconds(version)};
    page->arm(core::version{version}, {.stop_at = until, .kill_at = until});
    newest.store(version);
  }
  guard.join();
  EXPECT_EQ(wrong.load(), 0U);
}

}  // namespace
}  // namespace tenure::guard
