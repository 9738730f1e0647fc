#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/unique_fd.hpp"
#include "scene.hpp"

/// Members that tell each other the end of a term, beside programs that know nothing of that.
namespace tenure::tests {
namespace {

bool was_told(const member& who) {
  return who.process().said("heard that a term is over");
}
bool has_told(const member& who) {
  return who.process().said("told the next member that the term is over");
}

/// Hands over from `holder` to a new member, which is `holder` then, until one has heard of it by
/// the word. On a busy machine the store's news may be read before the word, and a holder may be
/// told to end before its watch has shown it the new member's place: then it can tell nobody.
class Words : public Interop {
 protected:
  void one_is_heard(std::unique_ptr<member>& holder, const std::string& names,
                    const std::function<void(const member&)>& end) {
    bool heard = false;
    for (int n = 1; n <= 5 && !heard; ++n) {
      const std::string name = names + std::to_string(n);
      auto next = telling_tenure(name);
      ASSERT_TRUE(contenders_become(2)) << next->process().err();
      // A member that has said nothing yet comes next, too, and has no address.
      const std::string has_spoken =
          R"({"identity":")" + name + R"(","is_self":false,"state":"standby","ready":true)";
      ASSERT_TRUE(eventually([&] {
        const std::string seen = holder->get("/v1/elections/test");
        return seen.contains(R"("next":")" + name + '"') && seen.contains(has_spoken);
      })) << holder->get("/v1/elections/test");
      end(*holder);
      ASSERT_TRUE(runs_as(in_, name)) << next->process().err();
      heard = was_told(*next);
      EXPECT_TRUE(!heard || eventually([&] { return has_told(*holder); }))
          << holder->process().err();
      // Killed before it has released everything, it would be a contender until its lease ends.
      holder->process().send(SIGTERM);
      ASSERT_TRUE(holder->process().wait()) << holder->process().err();
      holder = std::move(next);
      ASSERT_TRUE(contenders_become(1));
    }
    EXPECT_TRUE(heard) << holder->process().err();
  }
};
INSTANTIATE_TEST_SUITE_P(Etcd, Words, ::testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& of) { return of.param.name; });

TEST_P(Words, TheNextMemberIsToldWhenATermIsOver) {
  auto holder = telling_tenure("first");
  ASSERT_TRUE(runs_as(in_, "first")) << holder->process().err();
  ASSERT_NO_FATAL_FAILURE(
      one_is_heard(holder, "a", [](const member& a) { a.process().send(SIGTERM); }));
  one_is_heard(holder, "b", [](const member& a) {
    const auto workload = a.workload();
    ASSERT_TRUE(workload);
    ::kill(*workload, SIGKILL);
  });
}

TEST_P(Interop, MemberWhosePortForWordsIsTakenHearsFromTheStore) {
  const auto a = telling_tenure("a");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const base::unique_fd other(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(other.get(), reinterpret_cast<const sockaddr*>(&at), size), 0);
  ASSERT_EQ(::getsockname(other.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
  const auto b = telling_tenure("b", "127.0.0.1:" + std::to_string(ntohs(at.sin_port)));
  ASSERT_TRUE(eventually([&] { return b->process().said("cannot listen at peer_listen"); }))
      << b->process().err();
  ASSERT_TRUE(contenders_become(2)) << b->process().err();
  a->process().send(SIGTERM);
  EXPECT_TRUE(runs_as(in_, "b")) << b->process().err();
}

TEST_P(Interop, AnotherClientBetweenTwoMembersIsServedFirst) {
  const auto a = telling_tenure("a");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(contenders_become(2)) << other->err();
  const auto b = telling_tenure("b");
  ASSERT_TRUE(contenders_become(3)) << b->process().err();
  a->process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  EXPECT_FALSE(has_told(*a)) << a->process().err();
  for (const pid_t command : children_of(other->pid())) ::kill(command, SIGTERM);
  ASSERT_TRUE(runs_as(in_, "b")) << b->process().err();
}

TEST_P(Interop, AnotherClientBehindTheNextMemberWaitsForBoth) {
  const auto a = telling_tenure("a");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto b = telling_tenure("b");
  ASSERT_TRUE(contenders_become(2)) << b->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(contenders_become(3)) << other->err();
  a->process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "b")) << b->process().err();
  b->process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  EXPECT_FALSE(has_told(*b)) << b->process().err();
}

}  // namespace
}  // namespace tenure::tests
