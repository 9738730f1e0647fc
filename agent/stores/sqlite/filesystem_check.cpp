#include "stores/sqlite/filesystem_check.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error_text.hpp"

namespace tenure::stores::sqlite {
namespace {

struct entry {
  std::uint32_t type;
  filesystem_kind kind;
};

constexpr auto network = filesystem_verdict::network;
constexpr auto in_memory = filesystem_verdict::volatile_memory;

/// Numbers from the kernel's linux/magic.h and statfs(2). Most headers lack half of them.
constexpr std::array<entry, 24> known{{
    {0x00006969, {"NFS", network}},
    {0x0000517b, {"SMB", network}},
    {0xff534d42, {"CIFS", network}},
    {0xfe534d42, {"SMB2", network}},
    {0x01021997, {"9p", network}},
    {0x00c36400, {"CephFS", network}},
    {0x5346414f, {"AFS", network}},
    {0x6b414653, {"AFS", network}},
    {0x73757245, {"Coda", network}},
    {0x0000564c, {"NCP", network}},
    {0x01161970, {"GFS2", network}},
    {0x7461636f, {"OCFS2", network}},
    {0x0bd00bd0, {"Lustre", network}},
    {0x19830326, {"BeeGFS", network}},
    {0x47504653, {"GPFS", network}},
    {0xaad7aaea, {"PanFS", network}},
    {0x20030528, {"OrangeFS", network}},
    // virtiofs reports the type of FUSE; behind either may be another kernel.
    {0x65735546, {"FUSE or virtiofs", network}},
    {0x786f4256, {"a VirtualBox shared folder", network}},
    {0xbacbacbc, {"a VMware shared folder", network}},
    {0x7c7c6673, {"a Parallels shared folder", network}},
    {0x01021994, {"tmpfs", in_memory}},
    {0x858458f6, {"ramfs", in_memory}},
    {0x794c7630, {"overlayfs", in_memory}},
}};

}  // namespace

std::optional<filesystem_kind> judge_filesystem(std::uint32_t type) {
  const auto found = std::ranges::find(known, type, &entry::type);
  if (found == known.end()) return std::nullopt;
  return found->kind;
}

std::expected<std::string, std::string> check_filesystem(const std::string& path) {
  struct statfs about{};
  if (::statfs(path.c_str(), &about) != 0) {
    return std::unexpected("cannot tell which file system " + path +
                           " is on: " + base::error_text(errno));
  }
  const auto kind = judge_filesystem(static_cast<std::uint32_t>(about.f_type));
  if (!kind) return "";
  const std::string name(kind->name);
  if (kind->verdict == filesystem_verdict::network) {
    return std::unexpected(
        "cannot keep leases in " + path + ": it is on " + name +
        ", where file locks and shared memory do not reach every kernel that can open the file, so "
        "two agents could both hold the lease. Use a volume that is local to this host, or another "
        "--store");
  }
  return path + " is on " + name +
         ", which does not outlive this host or container: after that, versions start again. Use a "
         "disk if resources compare versions";
}

}  // namespace tenure::stores::sqlite
