// Real sockets, on loopback.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "peer/channel.hpp"
#include "peer/word_codec.hpp"
#include "support/patience.hpp"

namespace tenure::peer {
namespace {

core::word word_of(std::uint64_t ended, const std::string& election = "db") {
  return {.election = election,
          .ended = core::version{ended},
          .told = core::version{ended + 1},
          .signature = std::string(signature_bytes, 's')};
}

std::uint16_t port_of(const std::string& address) {
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

class Channel : public testing::Test {
 protected:
  std::unique_ptr<channel> open(const std::string& host = "127.0.0.1", std::uint16_t port = 0) {
    auto made = open_udp_channel(loop_, {.host = host, .port = port},
                                 [this](const core::word& what) { heard_.push_back(what); });
    EXPECT_TRUE(made) << made.error();
    return made ? std::move(*made) : nullptr;
  }

  [[nodiscard]] bool hears(std::size_t count) {
    const auto until = std::chrono::steady_clock::now() + tests::patience;
    while (heard_.size() < count && std::chrono::steady_clock::now() < until) {
      context_.run_one_for(std::chrono::milliseconds(100));
    }
    return heard_.size() == count;
  }

  /// Sends these bytes to the channel at 127.0.0.1.
  static void send(const std::string& to, const std::string& bytes) {
    const base::unique_fd from(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    at.sin_port = ::htons(port_of(to));
    EXPECT_EQ(::sendto(from.get(), bytes.data(), bytes.size(), 0,
                       reinterpret_cast<const sockaddr*>(&at), sizeof at),
              static_cast<ssize_t>(bytes.size()));
  }

  /// Sends `bytes` that often, and lets the channel take what it will.
  void flood(const std::string& to, const std::string& bytes, int times) {
    for (int sent = 0; sent < times; ++sent) {
      send(to, bytes);
      if (sent % 64 == 0) take();
    }
    take();
  }
  void take() {
    context_.restart();
    context_.poll();
  }

  boost::asio::io_context context_;
  http::asio_loop loop_{context_.get_executor()};
  std::vector<core::word> heard_;
};

TEST_F(Channel, CarriesAWordToAnAddress) {
  const auto from = open();
  const auto to = open();
  EXPECT_THAT(to->address(), testing::MatchesRegex("127\\.0\\.0\\.1:[1-9][0-9]*"));
  from->tell(to->address(), word_of(7, "team/db"));
  ASSERT_TRUE(hears(1));
  EXPECT_EQ(heard_[0].election, "team/db");
  EXPECT_EQ(heard_[0].ended, core::version{7});
  EXPECT_EQ(heard_[0].told, core::version{8});
}

TEST_F(Channel, KnowsIpv6) {
  const auto from = open("::1");
  const auto to = open("::1");
  if (from == nullptr || to == nullptr) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_THAT(to->address(), testing::StartsWith("[::1]:"));
  from->tell(to->address(), word_of(7));
  EXPECT_TRUE(hears(1));
}

TEST_F(Channel, WhatIsNoWordIsNotHeard) {
  const auto to = open();
  send(to->address(), "");
  send(to->address(), "hello");
  send(to->address(), std::string(60'000, 'x'));
  send(to->address(), encode(word_of(1)) + std::string(most_word_bytes, 'x'));
  send(to->address(), encode(word_of(2)));
  ASSERT_TRUE(hears(1));
  EXPECT_EQ(heard_[0].ended, core::version{2});
}

TEST_F(Channel, FloodOfWhatIsNoWordKeepsNoWordOut) {
  const auto to = open();
  flood(to->address(), "x", 20'000);
  send(to->address(), encode(word_of(2)));
  ASSERT_TRUE(hears(1));
}

TEST_F(Channel, WordsAreLimitedAndTheLimitIsOverWithTheFlood) {
  const auto to = open();
  const auto begun = std::chrono::steady_clock::now();
  flood(to->address(), encode(word_of(1)), 20'000);
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begun;
  // 256 at once, then 512 in a second.
  EXPECT_LE(static_cast<double>(heard_.size()), 257 + 512 * lasted.count());
  const std::size_t before = heard_.size();
  const auto until = std::chrono::steady_clock::now() + tests::patience;
  while (heard_.size() == before && std::chrono::steady_clock::now() < until) {
    send(to->address(), encode(word_of(2)));
    context_.run_one_for(std::chrono::milliseconds(10));
  }
  EXPECT_GT(heard_.size(), before);
}

TEST_F(Channel, AnAddressThatIsNoneLosesTheWord) {
  const auto from = open();
  const auto to = open();
  for (const char* nowhere : {"", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
                              "[::1:5", "host:5", "[::1]:5", "255.255.255.255:9", ":5"}) {
    from->tell(nowhere, word_of(1));
  }
  from->tell(to->address(), word_of(2));
  ASSERT_TRUE(hears(1));
  EXPECT_EQ(heard_[0].ended, core::version{2});
}

TEST_F(Channel, HearsNothingOnceItIsClosed) {
  const auto from = open();
  auto to = open();
  const std::string at = to->address();
  from->tell(at, word_of(1));
  to.reset();
  from->tell(at, word_of(2));
  const auto again = open("127.0.0.1", port_of(at));
  ASSERT_TRUE(again);
  from->tell(at, word_of(3));
  ASSERT_TRUE(hears(1));
  EXPECT_EQ(heard_[0].ended, core::version{3});
}

TEST_F(Channel, AnAddressInUseIsAnError) {
  const auto one = open();
  const std::string at = one->address();
  const auto two =
      open_udp_channel(loop_, {.host = "127.0.0.1", .port = port_of(at)}, [](const core::word&) {});
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error(),
              testing::AllOf(testing::StartsWith(at + ": "), testing::HasSubstr("use")));
}

}  // namespace
}  // namespace tenure::peer
