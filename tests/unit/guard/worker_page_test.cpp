// The page that a workload reads: the writer, the reader and the layout.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "base/boot_time.hpp"
#include "guard/worker_page.hpp"

namespace tenure::guard {
namespace {

using namespace std::chrono_literals;

// Documented in docs/worker-page.md: code in other languages relies on these.
static_assert(offsetof(tenure_page, magic) == 0);
static_assert(offsetof(tenure_page, layout) == 8);
static_assert(offsetof(tenure_page, state) == 12);
static_assert(offsetof(tenure_page, sequence) == 16);
static_assert(offsetof(tenure_page, version) == 24);
static_assert(offsetof(tenure_page, stop_at) == 32);
static_assert(sizeof(tenure_page) == 40);
static_assert(TENURE_NONE == 0 && TENURE_ACTIVE == 1 && TENURE_DRAINING == 2);

constexpr core::version seven{7};

/// A page, and what a workload that inherited it sees.
struct scene {
  scene() {
    if (!page.make()) std::abort();
    ::putenv(page.variable());
    seen = tenure_open();
  }
  ~scene() { ::unsetenv("TENURE_PAGE"); }

  worker_page page;
  const tenure_page* seen = nullptr;
};

TEST(WorkerPage, SaysNoUntilALeaseIsShown) {
  scene s;
  ASSERT_NE(s.seen, nullptr);
  EXPECT_FALSE(tenure_valid(s.seen));
  EXPECT_EQ(tenure_version(s.seen), 0U);
  EXPECT_EQ(tenure_remaining(s.seen), 0);
  EXPECT_FALSE(tenure_draining(s.seen));
}

TEST(WorkerPage, ShowsALeaseUntilItsStop) {
  scene s;
  const core::time_point stop_at = base::boot_now() + 1h;
  s.page.show({.state = TENURE_ACTIVE, .version = seven, .stop_at = stop_at});
  EXPECT_TRUE(tenure_valid(s.seen));
  EXPECT_EQ(tenure_version(s.seen), 7U);
  EXPECT_GT(tenure_remaining(s.seen), core::duration(59min).count());
  EXPECT_LE(tenure_remaining(s.seen), core::duration(1h).count());
  EXPECT_FALSE(tenure_draining(s.seen));
}

TEST(WorkerPage, SaysNoFromItsStopOnThoughNobodyWritesAnyMore) {
  scene s;
  // On a busy machine the first of these may be over before anybody has looked.
  bool was_in_force = false;
  for (core::duration lasts = 20ms; !was_in_force; lasts *= 2) {
    const core::time_point stop_at = base::boot_now() + lasts;
    s.page.show({.state = TENURE_ACTIVE, .version = seven, .stop_at = stop_at});
    for (bool over = false; !over;) {
      over = base::boot_now() >= stop_at;
      const bool valid = tenure_valid(s.seen);
      if (base::boot_now() < stop_at) {
        EXPECT_TRUE(valid);
        was_in_force = true;
      }
      if (over) EXPECT_FALSE(valid);
    }
  }
  EXPECT_EQ(tenure_version(s.seen), 0U);
  EXPECT_EQ(tenure_remaining(s.seen), 0);
}

TEST(WorkerPage, DrainingIsInForceAndSaysSo) {
  scene s;
  const core::time_point stop_at = base::boot_now() + 1h;
  s.page.show({.state = TENURE_DRAINING, .version = seven, .stop_at = stop_at});
  EXPECT_EQ(tenure_version(s.seen), 7U);
  EXPECT_TRUE(tenure_draining(s.seen));
  s.page.show({.state = TENURE_DRAINING, .version = seven, .stop_at = base::boot_now()});
  EXPECT_FALSE(tenure_draining(s.seen));
  EXPECT_EQ(tenure_version(s.seen), 0U);
}

TEST(WorkerPage, DrainOfADeadAgentsLeaseKeepsItsVersionAndStop) {
  scene s;
  s.page.drain();
  EXPECT_FALSE(tenure_valid(s.seen));
  s.page.show({.state = TENURE_ACTIVE, .version = seven, .stop_at = base::boot_now() + 1h});
  const std::int64_t before = tenure_remaining(s.seen);
  s.page.drain();
  EXPECT_TRUE(tenure_draining(s.seen));
  EXPECT_EQ(tenure_version(s.seen), 7U);
  EXPECT_LE(tenure_remaining(s.seen), before);
}

/// The page as an agent leaves it that dies while writing.
void tear(worker_page& page) {
  auto* memory = static_cast<std::byte*>(
      ::mmap(nullptr, sizeof(tenure_page), PROT_READ | PROT_WRITE, MAP_SHARED, page.fd().get(), 0));
  ++*reinterpret_cast<std::uint64_t*>(memory + offsetof(tenure_page, sequence));
  ::munmap(memory, sizeof(tenure_page));
}

TEST(WorkerPage, PageThatIsHalfWrittenSaysNoAndTheNextWriterMendsIt) {
  scene s;
  const worker_term version{
      .state = TENURE_ACTIVE, .version = seven, .stop_at = base::boot_now() + 1h};
  s.page.show(version);
  tear(s.page);
  EXPECT_FALSE(tenure_valid(s.seen));
  s.page.drain();
  EXPECT_FALSE(tenure_valid(s.seen)) << "what a torn page says is not to be believed";
  s.page.show(version);
  EXPECT_TRUE(tenure_valid(s.seen));
}

TEST(WorkerPage, ReadersNeverMixTwoTerms) {
  scene s;
  const std::int64_t base = base::boot_now().time_since_epoch().count();
  std::atomic<bool> over = false;
  std::vector<std::thread> readers;
  std::atomic<int> mixed = 0;
  std::atomic<int> good = 0;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!over) {
        tenure_term version{};
        if (tenure_read(s.seen, &version) == 0 || version.state == TENURE_NONE) continue;
        ++(version.stop_at - base == static_cast<std::int64_t>(version.version) ? good : mixed);
      }
    });
  }
  for (std::uint64_t i = 1; i < 200'000 || good < 1000; ++i) {
    s.page.show({.state = TENURE_ACTIVE,
                 .version = core::version{i},
                 .stop_at = core::time_point(core::duration(base + static_cast<std::int64_t>(i)))});
  }
  over = true;
  for (std::thread& one : readers) one.join();
  EXPECT_EQ(mixed, 0);
}

TEST(WorkerPage, WorkloadCannotWriteIt) {
  const scene s;
  void* memory = ::mmap(nullptr, sizeof(tenure_page), PROT_READ | PROT_WRITE, MAP_SHARED,
                        s.page.workload_fd(), 0);
  EXPECT_EQ(memory, MAP_FAILED);
  EXPECT_EQ(errno, EACCES);
  struct stat file{};
  ASSERT_EQ(::fstat(s.page.workload_fd(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0444U);
}

TEST(WorkerPage, WhatIsNotAPageIsNotOpened) {
  ::unsetenv("TENURE_PAGE");
  EXPECT_EQ(tenure_open(), nullptr);
  EXPECT_EQ(errno, ENOENT);
  ::setenv("TENURE_PAGE", "/nowhere/page", 1);
  EXPECT_EQ(tenure_open(), nullptr);
  EXPECT_EQ(errno, ENOENT);
  ::setenv("TENURE_PAGE", "/proc/self/exe", 1);
  EXPECT_EQ(tenure_open(), nullptr);
  EXPECT_EQ(errno, EPROTO);
  ::setenv("TENURE_PAGE", "/dev/null", 1);
  EXPECT_EQ(tenure_open(), nullptr);
  EXPECT_EQ(errno, EPROTO);
  ::unsetenv("TENURE_PAGE");
}

TEST(WorkerPage, NoPageOrOneOfAnotherLayoutSaysNo) {
  EXPECT_FALSE(tenure_valid(nullptr));
  EXPECT_EQ(tenure_remaining(nullptr), 0);
  const tenure_page newer{.magic = TENURE_PAGE_MAGIC,
                          .layout = TENURE_PAGE_LAYOUT + 1,
                          .state = TENURE_ACTIVE,
                          .sequence = 0,
                          .version = 7,
                          .stop_at = INT64_MAX};
  EXPECT_FALSE(tenure_valid(&newer));
}

}  // namespace
}  // namespace tenure::guard
