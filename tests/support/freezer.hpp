#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "support/eventually.hpp"
#include "support/own_cgroup.hpp"

namespace tenure::tests {

/// A cgroup of version 1 whose processes can be frozen: from then on they are in state D, and
/// SIGKILL waits until they are thawed, as with a disk that hangs. (What version 2 freezes can be
/// killed.)
class freezer {
 public:
  freezer() {
    const std::string mount = cgroup_mount("freezer");
    if (mount.empty()) {
      missing_ =
          "no freezer of cgroup version 1 is mounted here, and nothing else hangs on purpose";
      return;
    }
    path_ = mount + "/tenure-XXXXXX";
    if (::mkdtemp(path_.data()) != nullptr) return;
    missing_ = "no cgroup can be made in " + mount;
    path_.clear();
  }

  ~freezer() {
    if (path_.empty()) return;
    eventually([this] { return ::rmdir(path_.c_str()) == 0 || errno == ENOENT; });
  }

  freezer(const freezer&) = delete;
  freezer& operator=(const freezer&) = delete;

  /// Why there is no freezer; empty if there is one.
  [[nodiscard]] const std::string& missing() const { return missing_; }

  /// A process joins by writing its number here.
  [[nodiscard]] std::string procs() const { return path_ + "/cgroup.procs"; }

  /// While it lives, all processes in the freezer hang. Make it after objects that wait for their
  /// end.
  class frost {
   public:
    explicit frost(const freezer& in) : in_(in) {
      in_.order("FROZEN");
      EXPECT_TRUE(eventually([this] { return in_.state() == "FROZEN"; }));
    }
    ~frost() { thaw(); }
    frost(const frost&) = delete;
    frost& operator=(const frost&) = delete;

    void thaw() const { in_.order("THAWED"); }

   private:
    const freezer& in_;
  };

 private:
  void order(const char* state) const { std::ofstream(path_ + "/freezer.state") << state; }
  [[nodiscard]] std::string state() const {
    std::string now;
    std::ifstream(path_ + "/freezer.state") >> now;
    return now;
  }

  std::string missing_;
  std::string path_;
};

}  // namespace tenure::tests
