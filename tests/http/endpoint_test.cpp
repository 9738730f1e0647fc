#include "http/endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::tests {
namespace {

using http::endpoint;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint16_t etcd_port = 2379;

struct good {
  const char* url;
  endpoint what;
  const char* normal;
};

TEST(Endpoint, IsWhatTheUrlSays) {
  const good table[] = {
      {"http://10.0.0.1:2379", {false, "10.0.0.1", 2379}, "http://10.0.0.1:2379"},
      {"https://[::1]:443/prefix", {true, "::1", 443, "/prefix"}, "https://[::1]:443/prefix"},
      {"etcd-0.etcd", {false, "etcd-0.etcd", 2379}, "http://etcd-0.etcd:2379"},
      {"localhost:1", {false, "localhost", 1}, "http://localhost:1"},
      {"HTTPS://Etcd.Example", {true, "etcd.example", 2379}, "https://etcd.example:2379"},
      {"http://a/", {false, "a", 2379}, "http://a:2379"},
      {"http://a/b/c//", {false, "a", 2379, "/b/c"}, "http://a:2379/b/c"},
      {"[0:0:0:0:0:0:0:1]", {false, "::1", 2379}, "http://[::1]:2379"},
      {"my_service.", {false, "my_service.", 2379}, "http://my_service.:2379"},
  };
  for (const good& g : table) {
    const auto parsed = http::parse_endpoint(g.url, etcd_port);
    ASSERT_TRUE(parsed) << g.url << ": " << parsed.error();
    EXPECT_EQ(*parsed, g.what) << g.url;
    EXPECT_EQ(http::text(*parsed), g.normal);
    EXPECT_EQ(http::parse_endpoint(http::text(*parsed), 1), *parsed)
        << "what is written is readable";
  }
}

struct bad {
  const char* url;
  const char* why;
};

TEST(Endpoint, ErrorSaysWhatIsWrongAndShowsAGoodOne) {
  const bad table[] = {
      {"", "it has no host"},
      {"http://", "it has no host"},
      {"http://:2379", "it has no host"},
      {"ftp://a", "the scheme is neither http nor https"},
      {"http://a:0", "the port is not a number from 1 to 65535"},
      {"http://a:65536", "the port is not a number from 1 to 65535"},
      {"http://a:", "the port is not a number from 1 to 65535"},
      {"http://a:2379x", "the port is not a number from 1 to 65535"},
      {"http://::1:2379", "an IPv6 address needs brackets"},
      {"http://[::1", "the bracket is not closed"},
      {"http://[10.0.0.1]", "what is in brackets is not an IPv6 address"},
      {"http://[::1]2379", "something other than a port follows the bracket"},
      {"http://10.0.1", "the host is neither an IPv4 address nor a name"},
      {"http://10.0.0.256", "the host is neither an IPv4 address nor a name"},
      {"http://a b", "a blank or a character that a URL cannot have"},
      {"http://a\nb", "a blank or a character that a URL cannot have"},
      {"http://a%41", "the host has a character that a host name cannot have"},
      {"http://a?b", "it has a query or a fragment"},
      {"http://a#b", "it has a query or a fragment"},
  };
  for (const bad& b : table) {
    const auto parsed = http::parse_endpoint(b.url, etcd_port);
    ASSERT_FALSE(parsed) << b.url;
    EXPECT_THAT(parsed.error(), HasSubstr(b.why)) << b.url;
    EXPECT_THAT(parsed.error(), HasSubstr("http://10.0.0.1:2379")) << b.url;
    EXPECT_THAT(parsed.error(), Not(HasSubstr("\n")));
  }
  EXPECT_FALSE(http::parse_endpoint(std::string(300, 'a'), etcd_port));
}

TEST(Endpoint, ErrorNeverRepeatsASecret) {
  for (const char* url : {"http://me:hunter2@etcd:2379", "hunter2@etcd", "http://me:hun/hunter2@a",
                          "ftp://me:hunter2@a b", "http://a?token=hunter2"}) {
    const auto parsed = http::parse_endpoint(url, etcd_port);
    ASSERT_FALSE(parsed) << url;
    EXPECT_THAT(parsed.error(), Not(HasSubstr("hunter2")));
  }
}

TEST(Endpoint, OfThisMachineMayBeAUnixSocket) {
  const auto socket = http::parse_local_endpoint("unix:/run/tenure.sock", etcd_port);
  ASSERT_TRUE(socket) << socket.error();
  EXPECT_EQ(socket->socket_path, "/run/tenure.sock");
  EXPECT_EQ(http::text(*socket), "unix:/run/tenure.sock");
  EXPECT_EQ(http::host_header(*socket), "localhost");
  EXPECT_EQ(http::parse_local_endpoint("localhost:1", etcd_port),
            http::parse_endpoint("localhost:1", etcd_port));
  for (const std::string& wrong : {std::string("unix:"), std::string("unix:relative"),
                                   std::string("unix:/a b"), "unix:/" + std::string(108, 'x')}) {
    const auto refused = http::parse_local_endpoint(wrong, etcd_port);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error(), HasSubstr("unix:/run/tenure.sock"));
  }
  EXPECT_FALSE(http::parse_endpoint("unix:/run/tenure.sock", etcd_port)) << "a store has none";
}

}  // namespace
}  // namespace tenure::tests
