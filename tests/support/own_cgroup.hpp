#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/eventually.hpp"

namespace tenure::tests {

/// Where cgroups of version 1 with this controller are mounted, or those of version 2 if it is
/// empty; empty if they are not.
inline std::string cgroup_mount(std::string_view controller) {
  const std::string wanted = "," + std::string(controller) + ",";
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::string device, where, type, options;
    std::istringstream(line) >> device >> where >> type >> options;
    if (controller.empty() && type == "cgroup2") return where;
    if (!controller.empty() && type == "cgroup" && ("," + options + ",").contains(wanted)) {
      return where;
    }
  }
  return {};
}

/// A cgroup that nobody is in but whom the test has put there. Removed when all of them have left.
class own_cgroup {
 public:
  explicit own_cgroup(const std::string& name) {
    for (const char* controller : {"", "pids"}) {
      const std::string mount = cgroup_mount(controller);
      if (mount.empty()) continue;
      // Not by our process id: other tests may have the same one (support/apart).
      path_ = mount + "/tenure-" + name + "-XXXXXX";
      if (::mkdtemp(path_.data()) != nullptr) return;
      missing_ = "no cgroup can be made in " + mount;
      path_.clear();
    }
    if (missing_.empty()) missing_ = "no cgroups are mounted here";
  }
  ~own_cgroup() {
    if (path_.empty()) return;
    eventually([this] { return ::rmdir(path_.c_str()) == 0 || errno == ENOENT; });
  }
  own_cgroup(const own_cgroup&) = delete;
  own_cgroup& operator=(const own_cgroup&) = delete;

  /// Why there is no cgroup; empty if there is one.
  [[nodiscard]] const std::string& missing() const {
    static const std::string none;
    return path_.empty() ? missing_ : none;
  }

  /// A process joins by writing its number here.
  [[nodiscard]] std::string procs() const { return path_ + "/cgroup.procs"; }

 private:
  std::string path_;
  std::string missing_;
};

/// In front of a command: it joins this cgroup, as root with a container's default capabilities,
/// which cannot look into other users' processes.
inline std::vector<std::string> contained_in(const own_cgroup& which) {
  return {"sh", "-c",
          "echo $$ > " + which.procs() +
              " && exec setpriv --bounding-set=-all,+setuid,+setgid,+kill,"
              "+dac_override -- \"$@\"",
          "join"};
}

}  // namespace tenure::tests
