#include "base/memory_limit.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/temporary_directory.hpp"

namespace tenure::base {
namespace {

class MemoryLimit : public testing::Test {
 protected:
  void says(const std::string& file, const std::string& text) {
    const std::filesystem::path path = mounted_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  std::optional<std::uint64_t> of(const std::string& cgroups) {
    std::istringstream in(cgroups);
    return memory_limit(in, mounted_.path());
  }

  tests::temporary_directory mounted_;
};

TEST_F(MemoryLimit, IsTheLeastOfAllAboveInVersion2) {
  says("system.slice/memory.max", "33554432");
  says("system.slice/web.service/memory.max", "67108864");
  EXPECT_EQ(of("0::/system.slice/web.service\n"), 33554432U);
  says("system.slice/web.service/memory.max", "16777216");
  EXPECT_EQ(of("0::/system.slice/web.service\n"), 16777216U);
  says("system.slice/memory.max", "max");
  says("system.slice/web.service/memory.max", "max");
  EXPECT_EQ(of("0::/system.slice/web.service\n"), std::nullopt);
}

TEST_F(MemoryLimit, IsThatOfTheControllerInVersion1) {
  says("memory/docker/1/memory.limit_in_bytes", "33554432");
  says("cpu/docker/1/memory.limit_in_bytes", "5");
  EXPECT_EQ(of("9:cpu,cpuacct:/docker/1\n4:hugetlb,memory:/docker/1\n"), 33554432U);
}

/// In a container its own cgroup is mounted, and the path may be the host's.
TEST_F(MemoryLimit, OfAContainerIsThatOfWhatIsMounted) {
  says("memory.max", "33554432");
  EXPECT_EQ(of("0::/\n"), 33554432U);
  EXPECT_EQ(of("0::/kubepods/pod1/c1\n"), 33554432U);
  EXPECT_EQ(of("0::/../other\n"), 33554432U);
}

TEST_F(MemoryLimit, IsNothingWhereNothingCanBeRead) {
  for (const char* text : {"", "\n", "nonsense\n", "0:\n", "0::/gone\n", "4:memory:/gone\n"}) {
    EXPECT_EQ(of(text), std::nullopt) << text;
  }
}

TEST_F(MemoryLimit, BoundsAReply) {
  EXPECT_EQ(most_reply_bytes(std::nullopt), std::size_t{64} << 20U);
  EXPECT_EQ(most_reply_bytes(std::uint64_t{64} << 30U), std::size_t{64} << 20U);
  EXPECT_EQ(most_reply_bytes(std::uint64_t{32} << 20U), std::size_t{2} << 20U);
  EXPECT_EQ(most_reply_bytes(1), std::size_t{1} << 20U);
}

}  // namespace
}  // namespace tenure::base
