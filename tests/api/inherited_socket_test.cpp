// Descriptors that a child has inherited: a process that checks the workload's health holds all of
// ours until it becomes another program or ends.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "test_server.hpp"

namespace tenure::tests {
namespace {

class heir {
 public:
  heir() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  ~heir() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  heir(const heir&) = delete;
  heir& operator=(const heir&) = delete;

 private:
  pid_t pid_;
};

TEST(InheritedSocket, OfAConnectionThatIsClosedDisturbsNoOther) {
  test_server s;
  for (int round = 0; round < 20; ++round) {
    raw_client closed(s.where);
    ASSERT_EQ(closed.ask(get("/", "Connection: close\r\n")).status, 200) << "round " << round;
    const heir holds_its_socket;
    closed.end_sending();
    // By the time that the second is answered, the server has closed its end of the first.
    for (int client = 0; client < 2; ++client) {
      raw_client next(s.where);
      for (int request = 0; request < 3; ++request) {
        ASSERT_EQ(next.ask(get("/")).status, 200) << "round " << round << ", client " << client;
      }
    }
  }
}

}  // namespace
}  // namespace tenure::tests
