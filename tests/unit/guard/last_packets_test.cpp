// One end of the connection between agent and guard ends without having read everything: what it
// has said reaches the other all the same. The kernel reports such an end as an error, and does so
// before it hands out what was sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "guard/guard_channel.hpp"
#include "guard/guard_endpoint.hpp"
#include "guard/guard_protocol.hpp"
#include "guard/guard_socket.hpp"
#include "guard/shared_page.hpp"

namespace tenure::guard {
namespace {

using reading = packet_socket::reading;
using ::testing::ElementsAre;

struct connection {
  connection() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()),
              0);
    guard.attach(base::unique_fd(ends[0]));
    agent.reset(ends[1]);
  }

  guard_socket guard;
  base::unique_fd agent;
};

template <guard_message M>
bool send(guard_socket& from, const M& what) {
  const M complete = sealed(what);
  return from.send(std::as_bytes(std::span(&complete, 1)));
}

template <guard_message M>
bool send(const base::unique_fd& from, const M& what) {
  const M complete = sealed(what);
  return ::send(from.get(), &complete, sizeof complete, MSG_NOSIGNAL) == sizeof complete;
}

template <guard_message M>
bool send(guard_connection& from, const M& what) {
  const M complete = sealed(what);
  return from.send(std::as_bytes(std::span(&complete, 1)));
}

std::string name_of(message_type what) {
  switch (what) {
    case message_type::stop:
      return "stop";
    case message_type::bye:
      return "bye";
    case message_type::signalled:
      return "signalled";
    case message_type::exited:
      return "exited";
    default:
      return std::to_string(static_cast<int>(what));
  }
}

/// The agent's end, as the agent has it.
class agent_end {
 public:
  explicit agent_end(base::unique_fd socket) {
    shared_page page;
    EXPECT_TRUE(page.make());
    auto made = guard_behind(io_.get_executor(), {.socket = std::move(socket),
                                                  .page = base::unique_fd(::dup(page.fd().get())),
                                                  .worker_page = {}});
    EXPECT_TRUE(made) << made.error();
    if (made) reached_ = std::move(*made);
  }

  [[nodiscard]] guard_connection& connection() const { return reached_->connection(); }

  /// What it is told until nothing more follows.
  std::vector<std::string> hear_all() {
    connection().open({.packet =
                           [this](std::span<const std::byte> bytes) {
                             const auto what = parse(bytes);
                             heard_.push_back(what ? name_of(what->type) : "nonsense");
                           },
                       .writable = [this] { heard_.emplace_back("writable"); },
                       .hung_up = [this] { heard_.emplace_back("hung up"); }});
    io_.run_for(std::chrono::seconds(20));
    return heard_;
  }

 private:
  boost::asio::io_context io_;
  std::unique_ptr<guard_access> reached_;
  std::vector<std::string> heard_;
};

std::vector<std::string> all_that_arrives(guard_socket& at) {
  std::vector<std::string> out;
  alignas(8) std::array<std::byte, max_message_bytes> buffer{};
  while (true) {
    const auto got = at.receive(buffer);
    if (got.what != reading::packet) {
      out.emplace_back(got.what == reading::hung_up ? "hung up" : "nothing");
      return out;
    }
    const auto what = parse(std::span(buffer).first(got.size));
    out.push_back(what ? name_of(what->type) : "nonsense");
  }
}

TEST(LastPackets, OfAGuardReachItsAgent) {
  connection on;
  ASSERT_TRUE(send(on.guard, message::signalled{}));
  ASSERT_TRUE(send(on.guard, message::exited{}));
  ASSERT_TRUE(send(on.agent, message::stop{}));
  on.guard.close();
  agent_end agent(std::move(on.agent));
  EXPECT_THAT(agent.hear_all(), ElementsAre("signalled", "exited", "hung up"));
}

TEST(LastPackets, OfAnAgentReachItsGuard) {
  connection on;
  ASSERT_TRUE(send(on.agent, message::stop{}));
  ASSERT_TRUE(send(on.agent, message::bye{}));
  ASSERT_TRUE(send(on.guard, message::exited{}));
  on.agent.reset();
  EXPECT_THAT(all_that_arrives(on.guard), ElementsAre("stop", "bye", "hung up"));
}

TEST(LastPackets, GuardThatTakesNothingAnyMoreReadsWhatWasSentBefore) {
  connection on;
  ASSERT_TRUE(send(on.agent, message::stop{}));
  agent_end agent(std::move(on.agent));
  on.guard.stop_receiving();
  EXPECT_FALSE(send(agent.connection(), message::start{}))
      << "the agent knows that it is not asked";
  EXPECT_THAT(all_that_arrives(on.guard), ElementsAre("stop", "hung up"));
  ASSERT_TRUE(send(on.guard, message::exited{}));
  on.guard.close();
  EXPECT_THAT(agent.hear_all(), ElementsAre("exited", "hung up"));
}

TEST(LastPackets, SayThatTheGuardWasToldToEndBeforeTheyReportTheEndOfItsWorkload) {
  connection on;
  guard_channel channel(on.guard);
  channel.say(message::exited{});
  channel.say(message::signalled{});
  ASSERT_TRUE(channel.flush());
  channel.close();
  agent_end agent(std::move(on.agent));
  EXPECT_THAT(agent.hear_all(), ElementsAre("signalled", "exited", "hung up"));
}

TEST(LastPackets, AgentKnowsWhatAGuardThatIsGoneHasNotTaken) {
  connection on;
  agent_end agent(std::move(on.agent));
  on.guard.close();
  EXPECT_FALSE(send(agent.connection(), message::start{}));
  EXPECT_THAT(agent.hear_all(), ElementsAre("hung up"));
}

}  // namespace
}  // namespace tenure::guard
