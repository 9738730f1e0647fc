#include "process/shared_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tenure::process {
namespace {

base::unique_fd copy_of(const base::unique_fd& fd) {
  return base::unique_fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
}

/// Memory of another process, which has this size and these seals.
base::unique_fd made_with(std::size_t bytes, int seals) {
  base::unique_fd out(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(out.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(::fcntl(out.get(), F_ADD_SEALS, seals), 0);
  return out;
}

constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

TEST(SharedMemory, IsZeroAtFirstAndTheSameForAllWhoMapIt) {
  shared_memory mine;
  ASSERT_TRUE(mine.make("test", 64));
  shared_memory theirs;
  ASSERT_TRUE(theirs.map(copy_of(mine.fd()), 64));
  auto* const written = static_cast<volatile char*>(mine.data());
  auto* const read = static_cast<volatile char*>(theirs.data());
  ASSERT_NE(written, read);
  EXPECT_EQ(read[63], 0);
  written[63] = 7;
  EXPECT_EQ(read[63], 7);
}

TEST(SharedMemory, KeepsItsSize) {
  shared_memory mine;
  ASSERT_TRUE(mine.make("test", 64));
  EXPECT_NE(::ftruncate(mine.fd().get(), 0), 0);
  EXPECT_NE(::ftruncate(mine.fd().get(), 65), 0);
}

TEST(SharedMemory, IsRefusedUnlessItsSizeIsSealedAndFits) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_TRUE(shared_memory().map(made_with(64, all_seals), 64));
  EXPECT_TRUE(shared_memory().map(made_with(page, all_seals), 64));
  EXPECT_FALSE(shared_memory().map(made_with(63, all_seals), 64));
  EXPECT_FALSE(shared_memory().map(made_with(page + 1, all_seals), 64));
  EXPECT_FALSE(shared_memory().map(made_with(64, F_SEAL_GROW | F_SEAL_SEAL), 64));
  EXPECT_FALSE(shared_memory().map(made_with(64, F_SEAL_SHRINK | F_SEAL_GROW), 64));
  EXPECT_FALSE(shared_memory().map(made_with(64, all_seals | F_SEAL_WRITE), 64));
  EXPECT_FALSE(shared_memory().map({}, 64));
}

TEST(SharedMemory, IsOnlyReadThroughADescriptorForReading) {
  shared_memory mine;
  ASSERT_TRUE(mine.make("test", 64));
  const base::unique_fd readable = mine.open_read_only();
  ASSERT_TRUE(readable);
  EXPECT_EQ(::mmap(nullptr, 64, PROT_READ | PROT_WRITE, MAP_SHARED, readable.get(), 0), MAP_FAILED);
  void* const seen = ::mmap(nullptr, 64, PROT_READ, MAP_SHARED, readable.get(), 0);
  ASSERT_NE(seen, MAP_FAILED);
  *static_cast<volatile char*>(mine.data()) = 7;
  EXPECT_EQ(*static_cast<volatile char*>(seen), 7);
  ::munmap(seen, 64);
}

}  // namespace
}  // namespace tenure::process
