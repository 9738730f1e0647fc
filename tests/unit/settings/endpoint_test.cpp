#include "settings/endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::settings {
namespace {

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
    const auto parsed = parse_endpoint(g.url, etcd_port, scheme::assumed_http);
    ASSERT_TRUE(parsed) << g.url << ": " << parsed.error().what;
    EXPECT_EQ(*parsed, g.what) << g.url;
    EXPECT_EQ(text(*parsed), g.normal);
    EXPECT_EQ(parse_endpoint(text(*parsed), 1), *parsed) << "what is written is readable";
  }
}

struct bad {
  const char* url;
  const char* why;
};

TEST(Endpoint, ErrorSaysWhatIsWrongAndShowsAGoodOne) {
  const bad table[] = {
      {"", "\"\" has no host"},
      {"http://", "has no host"},
      {"http://:2379", "has no host"},
      {"ftp://a", "is neither http nor https"},
      {"http://a:0", "has a port that is not from 1 to 65535"},
      {"http://a:65536", "has a port that is not from 1 to 65535"},
      {"http://a:", "has a port that is not from 1 to 65535"},
      {"http://a:2379x", "has a port that is not from 1 to 65535"},
      {"http://::1:2379", "has an IPv6 address without brackets"},
      {"http://[::1", "has no IPv6 address in its brackets"},
      {"http://[10.0.0.1]", "has no IPv6 address in its brackets"},
      {"http://[::1]2379", "has something other than a port behind its bracket"},
      {"http://10.0.1", "has a host that is neither an IPv4 address nor a name"},
      {"http://10.0.0.256", "has a host that is neither an IPv4 address nor a name"},
      {"http://a b", "has a blank or a character outside ASCII in it"},
      {"http://a\nb", "has a blank or a character outside ASCII in it"},
      {"http://a%41", "has a character in its host that no host can have"},
      {"http://a?b", "has a query or a fragment"},
      {"http://a#b", "has a query or a fragment"},
  };
  for (const bad& b : table) {
    const auto parsed = parse_endpoint(b.url, etcd_port, scheme::assumed_http);
    ASSERT_FALSE(parsed) << b.url;
    EXPECT_THAT(parsed.error().what, HasSubstr(b.why)) << b.url;
    EXPECT_THAT(parsed.error().suggestion, HasSubstr("http://10.0.0.1:2379")) << b.url;
    EXPECT_THAT(text(parsed.error()), Not(HasSubstr("\n")));
  }
  EXPECT_FALSE(parse_endpoint(std::string(300, 'a'), etcd_port));
}

TEST(Endpoint, OfAStoreSaysWhetherToUseTls) {
  const auto parsed = parse_endpoint("10.0.0.1:2379", etcd_port);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(text(parsed.error()),
            "\"10.0.0.1:2379\" does not say whether to use TLS; put http:// or https:// in front");
}

TEST(Endpoint, ErrorNeverRepeatsASecret) {
  for (const char* url : {"http://me:hunter2@etcd:2379", "hunter2@etcd", "http://me:hun/hunter2@a",
                          "ftp://me:hunter2@a b", "http://a?token=hunter2"}) {
    const auto parsed = parse_endpoint(url, etcd_port);
    ASSERT_FALSE(parsed) << url;
    EXPECT_THAT(text(parsed.error()), Not(HasSubstr("hunter2")));
  }
}

TEST(Endpoint, OfThisMachineMayBeAUnixSocket) {
  const auto socket = parse_local_endpoint("unix:/run/tenure.sock", etcd_port);
  ASSERT_TRUE(socket) << socket.error().what;
  EXPECT_EQ(socket->socket_path, "/run/tenure.sock");
  EXPECT_EQ(text(*socket), "unix:/run/tenure.sock");
  EXPECT_EQ(host_header(*socket), "localhost");
  EXPECT_EQ(parse_local_endpoint("localhost:1", etcd_port).value(),
            parse_endpoint("http://localhost:1", etcd_port).value());
  for (const std::string& wrong : {std::string("unix:"), std::string("unix:relative"),
                                   std::string("unix:/a b"), "unix:/" + std::string(108, 'x')}) {
    const auto refused = parse_local_endpoint(wrong, etcd_port);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().suggestion, HasSubstr("unix:/run/tenure.sock"));
  }
  EXPECT_FALSE(parse_endpoint("unix:/run/tenure.sock", etcd_port)) << "a store has none";
}

}  // namespace
}  // namespace tenure::settings
