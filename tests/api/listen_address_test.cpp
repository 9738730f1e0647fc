#include "net/listen_address.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/listening_socket.hpp"
#include "raw_client.hpp"

namespace tenure::tests {
namespace {

using net::listen_address;
using testing::HasSubstr;

TEST(ListenAddress, IsReadAndWrittenTheSame) {
  for (const char* words : {"127.0.0.1:4040", "0.0.0.0:0", "[::1]:65535", "localhost:1"}) {
    EXPECT_EQ(net::text(net::parse_listen_address(words).value()), words);
  }
  EXPECT_EQ(net::parse_listen_address("[::1]:80").value(), (listen_address{"::1", 80}));
}

TEST(ListenAddress, WithoutHostIsEveryAddress) {
  EXPECT_EQ(net::parse_listen_address(":8081").value(), (listen_address{"0.0.0.0", 8081}));
}

TEST(ListenAddress, WhatIsWrongIsSaidWithAnExample) {
  const struct {
    const char* words;
    const char* why;
  } wrong[] = {{"127.0.0.1", "no port"},
               {"127.0.0.1:", "port is not a number"},
               {"127.0.0.1:65536", "0 to 65535"},
               {"127.0.0.1:80x", "port is not a number"},
               {"::1:80", "needs brackets"},
               {"[127.0.0.1]:80", "brackets are for IPv6"},
               {"example.com:80", "neither an IP address nor localhost"},
               {"127.0.0.1:-1", "port is not a number"}};
  for (const auto& w : wrong) {
    const auto parsed = net::parse_listen_address(w.words);
    ASSERT_FALSE(parsed) << w.words;
    EXPECT_THAT(parsed.error(), HasSubstr(w.why));
    EXPECT_THAT(parsed.error(), HasSubstr("write it like 127.0.0.1:4040"));
  }
}

TEST(ListeningSocket, ChosenPortIsReported) {
  const auto socket = net::open_listening_socket({"127.0.0.1", 0});
  ASSERT_TRUE(socket) << socket.error().text;
  EXPECT_NE(socket->bound.port, 0);
  EXPECT_EQ(socket->bound.host, "127.0.0.1");
}

TEST(ListeningSocket, PortInUseIsToldApartAndNamesTheAddress) {
  const auto first = net::open_listening_socket({"127.0.0.1", 0});
  ASSERT_TRUE(first);
  const auto second = net::open_listening_socket(first->bound);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, net::listen_failure::in_use);
  EXPECT_THAT(second.error().text, HasSubstr(net::text(first->bound)));
  EXPECT_THAT(second.error().text, HasSubstr("in use"));
}

TEST(ListeningSocket, OtherFailuresAreToldApart) {
  // 192.0.2.0/24 is for documentation: no machine has it.
  EXPECT_EQ(net::open_listening_socket({"192.0.2.1", 0}).error().kind,
            net::listen_failure::not_ours);
  EXPECT_EQ(net::open_listening_socket({"example.com", 0}).error().kind,
            net::listen_failure::bad_address);
}

TEST(ListeningSocket, WorkloadInheritsNeitherListenerNorClients) {
  const auto socket = net::open_listening_socket({"127.0.0.1", 0});
  ASSERT_TRUE(socket);
  EXPECT_NE(::fcntl(socket->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  const raw_client client(socket->bound);
  const auto accepted = net::accept_client(socket->fd.get());
  ASSERT_TRUE(accepted);
  EXPECT_NE(::fcntl(accepted->get(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace tenure::tests
