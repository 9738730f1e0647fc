#include "process/wait_status.hpp"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

namespace tenure::process {

std::string describe_wait_status(int wait_status) {
  if (WIFEXITED(wait_status))
    return "exited with status " + std::to_string(WEXITSTATUS(wait_status));
  if (WIFSIGNALED(wait_status)) {
    const char* symbol = ::sigabbrev_np(WTERMSIG(wait_status));
    return std::string("was ended by SIG") + (symbol != nullptr ? symbol : "?");
  }
  return "ended";
}

}  // namespace tenure::process
