#pragma once

#include <unistd.h>

namespace tenure::tests {

/// Takes root's power over file permissions away for a while; does nothing for other users.
class as_nobody {
 public:
  as_nobody() : root_(::geteuid() == 0) {
    if (root_) root_ = ::seteuid(nobody) == 0;
  }
  ~as_nobody() {
    if (root_ && ::seteuid(0) != 0) ::_exit(1);
  }
  as_nobody(const as_nobody&) = delete;
  as_nobody& operator=(const as_nobody&) = delete;

 private:
  static constexpr uid_t nobody = 65534;
  bool root_;
};

}  // namespace tenure::tests
