#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "http/client/client_route.hpp"
#include "scene.hpp"

namespace tenure::tests {
namespace {

using boost::asio::ip::tcp;
using testing::HasSubstr;

/// An address that does not answer connections, like a firewall: its queue is full.
class black_hole {
 public:
  black_hole() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in bound{};
    bound.sin_family = AF_INET;
    bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof bound;
    auto* const address = reinterpret_cast<sockaddr*>(&bound);
    EXPECT_EQ(::bind(listening_.get(), address, size), 0);
    EXPECT_EQ(::listen(listening_.get(), 0), 0);
    EXPECT_EQ(::getsockname(listening_.get(), address, &size), 0);
    for (base::unique_fd& one : queue_) {
      one.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      EXPECT_TRUE(::connect(one.get(), address, size) == 0 || errno == EINPROGRESS);
    }
    where = {boost::asio::ip::address_v4::loopback(), ntohs(bound.sin_port)};
  }

  tcp::endpoint where;

 private:
  base::unique_fd listening_;
  std::array<base::unique_fd, 4> queue_;
};

/// Dials, and returns where that got to.
http::client_dialer::result dial(loop& l, const std::shared_ptr<http::client_route>& route,
                                 core::time_point deadline) {
  std::optional<http::client_dialer::result> out;
  const auto dialer = std::make_shared<http::client_dialer>(l.io.get_executor(), route);
  dialer->run(deadline, [&](http::client_dialer::result r) { out = std::move(r); });
  EXPECT_FALSE(out);
  EXPECT_TRUE(l.run_until([&] { return out.has_value(); }));
  dialer->stop();
  return std::move(*out);
}

tcp::endpoint address_of(const scripted_server& server) {
  return {boost::asio::ip::address_v4::loopback(), server.where().port};
}

TEST(Dialer, AddressThatSwallowsEverythingDoesNotEatTheTimeOfTheNext) {
  const black_hole hole;
  scripted_server server([](peer& with, int) { with.closed(); });
  loop l;
  auto route = std::make_shared<http::client_route>(
      l.io.get_executor(), settings::endpoint{.host = "some.name", .port = 1},
      http::tls_settings{});
  route->addresses.learn({hole.where, address_of(server)});
  const auto reached = dial(l, route, base::boot_now() + 500ms);
  ASSERT_TRUE(reached) << reached.error();
  (*reached)->close();
  EXPECT_EQ(route->addresses.known().front(), address_of(server))
      << "the one that answered is the first to try from now on";
  EXPECT_EQ(route->addresses.known().size(), 2u);
}

TEST(Dialer, ErrorTellsWhatBecameOfEachAddress) {
  const black_hole hole;
  tcp::endpoint closed;
  {
    scripted_server gone([](peer&, int) {});
    closed = address_of(gone);
  }
  loop l;
  auto route = std::make_shared<http::client_route>(
      l.io.get_executor(), settings::endpoint{.host = "some.name", .port = 1},
      http::tls_settings{});
  route->addresses.learn({closed, hole.where});
  const auto reached = dial(l, route, shortly());
  ASSERT_FALSE(reached);
  EXPECT_THAT(reached.error(),
              HasSubstr("127.0.0.1:" + std::to_string(closed.port()) + ": Connection refused"));
  EXPECT_THAT(reached.error(),
              HasSubstr("127.0.0.1:" + std::to_string(hole.where.port()) + ": no answer in time"));
}

TEST(Dialer, NameIsLookedUpAgainOnceConnectingFailed) {
  tcp::endpoint stale;
  {
    scripted_server gone([](peer&, int) {});
    stale = address_of(gone);
  }
  scripted_server server([](peer& with, int) { with.closed(); });
  settings::endpoint named = server.where();
  named.host = "localhost";
  loop l;
  auto route =
      std::make_shared<http::client_route>(l.io.get_executor(), named, http::tls_settings{});
  route->addresses.learn({stale});
  EXPECT_FALSE(dial(l, route, soon()));
  ASSERT_TRUE(l.run_until([&] { return !route->addresses.refreshing(); }));
  const auto reached = dial(l, route, soon());
  ASSERT_TRUE(reached) << reached.error();
  (*reached)->close();
}

TEST(Dialer, RequestToABlackHoleIsNotSentAndSaysWhatItWaitedFor) {
  const black_hole hole;
  scene s(settings::endpoint{.host = "127.0.0.1", .port = hole.where.port()});
  const std::string said = words(s.ask(get(), shortly()));
  EXPECT_THAT(said, testing::StartsWith("not sent: "));
  EXPECT_THAT(said, HasSubstr("no answer in time"));
  EXPECT_THAT(said, HasSubstr("connecting to 127.0.0.1:"));
}

TEST(Dialer, SocketIsNotInheritedByTheWorkload) {
  // Asked of the kernel, for every descriptor that there is afterwards.
  scripted_server server([](peer& with, int) {
    with.request();
    with.reply("ok");
    with.closed();
  });
  scene s(server.where());
  ASSERT_EQ(words(s.ask(get())), "200 ok");
  int sockets = 0;
  for (int fd = 3; fd < 256; ++fd) {
    sockaddr_in to{};
    socklen_t size = sizeof to;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&to), &size) != 0) continue;
    if (to.sin_family != AF_INET || ntohs(to.sin_port) != server.where().port) continue;
    ++sockets;
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(sockets, 1);
}

}  // namespace
}  // namespace tenure::tests
