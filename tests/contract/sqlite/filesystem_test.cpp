#include <gmock/gmock.h>

#include <ostream>

#include "stores/sqlite/filesystem_check.hpp"

namespace tenure::stores::sqlite {
namespace {

struct known_type {
  std::uint32_t type;
  const char* name;
};

/// Names the test; the bytes of the struct would name it differently in every run.
void PrintTo(const known_type& one, std::ostream* out) {
  *out << one.name;
}

class NetworkFilesystem : public testing::TestWithParam<known_type> {};

TEST_P(NetworkFilesystem, IsRefusedByName) {
  const auto kind = judge_filesystem(GetParam().type);
  ASSERT_TRUE(kind);
  EXPECT_EQ(kind->verdict, filesystem_verdict::network);
  EXPECT_THAT(std::string(kind->name), testing::HasSubstr(GetParam().name));
}

// The numbers are written down a second time, from the kernel's linux/magic.h and the sources of
// the file systems that are not in it.
INSTANTIATE_TEST_SUITE_P(
    Types, NetworkFilesystem,
    testing::Values(known_type{0x6969, "NFS"}, known_type{0x517B, "SMB"},
                    known_type{0xFF534D42, "CIFS"}, known_type{0xFE534D42, "SMB2"},
                    known_type{0x01021997, "9p"}, known_type{0x00C36400, "Ceph"},
                    known_type{0x5346414F, "AFS"}, known_type{0x6B414653, "AFS"},
                    known_type{0x73757245, "Coda"}, known_type{0x01161970, "GFS2"},
                    known_type{0x7461636F, "OCFS2"}, known_type{0x0BD00BD0, "Lustre"},
                    known_type{0x65735546, "virtiofs"}, known_type{0x65735546, "FUSE"}));

TEST(Filesystem, LocalDisksAreNotObjectedTo) {
  constexpr std::uint32_t ext4 = 0xEF53;
  constexpr std::uint32_t xfs = 0x58465342;
  constexpr std::uint32_t btrfs = 0x9123683E;
  for (const std::uint32_t type : {ext4, xfs, btrfs}) EXPECT_FALSE(judge_filesystem(type));
}

TEST(Filesystem, OneThatForgetsIsAWarningAsVersionsStartAgain) {
  const auto warning = check_filesystem("/dev/shm");
  if (!warning || warning->empty()) GTEST_SKIP() << "/dev/shm is not a tmpfs here";
  EXPECT_THAT(*warning, testing::AllOf(testing::HasSubstr("/dev/shm"), testing::HasSubstr("tmpfs"),
                                       testing::HasSubstr("versions start again")));
}

TEST(Filesystem, PathThatIsNotThereIsNamed) {
  const auto result = check_filesystem("/nonexistent/leases.db");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error(), testing::HasSubstr("/nonexistent/leases.db"));
}

}  // namespace
}  // namespace tenure::stores::sqlite
