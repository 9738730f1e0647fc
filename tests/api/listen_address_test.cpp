#include "settings/listen_address.hpp"
#include "http/listen_error.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server/listening_socket.hpp"
#include "raw_client.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;

TEST(ListenAddress, AnIpv6AddressIsWrittenInBrackets) {
  EXPECT_EQ(settings::text({"127.0.0.1", 4040}), "127.0.0.1:4040");
  EXPECT_EQ(settings::text({"::1", 80}), "[::1]:80");
}

TEST(ListeningSocket, ChosenPortIsReported) {
  const auto socket = http::open_listening_socket({"127.0.0.1", 0});
  ASSERT_TRUE(socket) << socket.error().text;
  EXPECT_NE(socket->bound.port, 0);
  EXPECT_EQ(socket->bound.host, "127.0.0.1");
}

TEST(ListeningSocket, PortInUseIsToldApartAndNamesTheAddress) {
  const auto first = http::open_listening_socket({"127.0.0.1", 0});
  ASSERT_TRUE(first);
  const auto second = http::open_listening_socket(first->bound);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, http::listen_failure::in_use);
  EXPECT_THAT(second.error().text, HasSubstr(settings::text(first->bound)));
  EXPECT_THAT(second.error().text, HasSubstr("in use"));
}

TEST(ListeningSocket, OtherFailuresAreToldApart) {
  // 192.0.2.0/24 is for documentation: no machine has it.
  EXPECT_EQ(http::open_listening_socket({"192.0.2.1", 0}).error().kind,
            http::listen_failure::not_ours);
  EXPECT_EQ(http::open_listening_socket({"example.com", 0}).error().kind,
            http::listen_failure::bad_address);
}

TEST(ListeningSocket, WorkloadInheritsNeitherListenerNorClients) {
  const auto socket = http::open_listening_socket({"127.0.0.1", 0});
  ASSERT_TRUE(socket);
  EXPECT_NE(::fcntl(socket->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  const raw_client client(socket->bound);
  const auto accepted = http::accept_client(socket->fd.get());
  ASSERT_TRUE(accepted);
  EXPECT_NE(::fcntl(accepted->get(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace tenure::tests
