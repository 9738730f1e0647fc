#include <gmock/gmock.h>
#include <sys/socket.h>

#include "http/server/http_server.hpp"
#include "http/server/listening_socket.hpp"
#include "scene.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Says what it was asked, and keeps the connection.
void echo(peer& with, int) {
  for (std::string asked = with.request(); !asked.empty(); asked = with.request()) {
    with.reply(asked.substr(0, asked.find(" HTTP/")) + " " +
               asked.substr(asked.find("\r\n\r\n") + 4));
  }
}

TEST(Client, ReplyIsTheServers) {
  scripted_server server(echo);
  scene s(server.where());
  EXPECT_TRUE(s.client->check());
  EXPECT_EQ(words(s.ask(post("{\"a\":1}", "/v3/kv/txn"))), "200 POST /v3/kv/txn {\"a\":1}");
  EXPECT_EQ(words(s.ask(get("/b"))), "200 GET /b ");
  EXPECT_EQ(server.connections(), 1);
}

TEST(Client, LargeBodiesGoBothWays) {
  scripted_server server(echo);
  scene s(server.where());
  const std::string large(3 * 1024 * 1024, 'x');
  const auto o = s.ask(post(large, "/b"));
  ASSERT_TRUE(o) << words(o);
  EXPECT_EQ(o->body, "POST /b " + large);
}

TEST(Client, NamesAreLookedUp) {
  scripted_server server(echo);
  settings::endpoint where = server.where();
  where.host = "localhost";
  where.base = "/base";
  scene s(where);
  EXPECT_EQ(words(s.ask(get("/a"))), "200 GET /base/a ");
}

TEST(Client, AUnixSocketIsDialedAndItsServerIsLocalhost) {
  const temporary_directory in;
  http::http_server server;
  ASSERT_TRUE(server.listen_on_path(
      (in / "s").string(), [](const http::request& asked, http::responder respond) {
        respond(http::response{.body = asked.method + " at " + asked.host.value_or("") + " " +
                                       asked.body});
      }));
  ASSERT_TRUE(server.start());
  const auto where = settings::parse_local_endpoint("unix:" + (in / "s").string(), 4040);
  ASSERT_TRUE(where) << settings::text(where.error());
  scene s(*where);
  EXPECT_EQ(words(s.ask(post("{}", "/v1"))), "200 POST at localhost {}");
  EXPECT_EQ(words(s.ask(get("/v1"))), "200 GET at localhost ");
}

TEST(Client, AUnixSocketThatIsNotThereIsAnErrorThatSaysSo) {
  scene s(settings::endpoint{.host = "localhost", .socket_path = "/nonexistent/s"});
  EXPECT_EQ(words(s.ask(get("/a"))),
            "not sent: GET /a at unix:/nonexistent/s: cannot connect to unix:/nonexistent/s: No "
            "such file or directory (ENOENT); does the server listen there, and may this user open "
            "it?");
}

TEST(Client, NameThatDoesNotExistIsAnErrorThatSaysSo) {
  scene s(settings::endpoint{.host = "no-such-host.invalid", .port = 2379});
  const std::string said = words(s.ask(get("/a")));
  EXPECT_THAT(said, StartsWith("not sent: GET /a at http://no-such-host.invalid:2379: "));
  EXPECT_THAT(said, HasSubstr("cannot be looked up"));
}

TEST(Client, Ipv6IsSpoken) {
  if (!http::open_listening_socket({.host = "::1", .port = 0})) {
    GTEST_SKIP() << "this machine has no ::1";
  }
  scripted_server server(echo, "::1");
  scene s(server.where());
  EXPECT_EQ(words(s.ask(get("/a"))), "200 GET /a ");
}

TEST(Client, ServerThatIsNotThereGetsNothing) {
  settings::endpoint where;
  {
    scripted_server gone(echo);
    where = gone.where();
  }
  scene s(where);
  const std::string said = words(s.ask(get("/a")));
  EXPECT_THAT(said,
              StartsWith("not sent: GET /a at " + settings::text(where) + ": cannot connect: "));
  EXPECT_THAT(said, HasSubstr("ECONNREFUSED"));
  EXPECT_THAT(said, HasSubstr("is the server running"));
}

TEST(Client, RequestThatCannotBeSentIsAnErrorWithoutItsSecret) {
  scripted_server server(echo);
  scene s(server.where());
  http::client_request asked = get();
  asked.headers = {{"Authorization", "hunter2\n"}};
  const std::string said = words(s.ask(asked));
  EXPECT_THAT(said, StartsWith("not sent: "));
  EXPECT_THAT(said, HasSubstr("Authorization has a line break"));
  EXPECT_THAT(said, Not(HasSubstr("hunter2")));
  EXPECT_EQ(server.connections(), 0);
}

TEST(Client, EveryStatusButARedirectIsAReply) {
  scripted_server server([](peer& with, int) {
    with.request();
    with.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy");
    with.request();
    with.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    with.request();
    with.send(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://other:1/x?token=hunter2\r\n"
        "Content-Length: 0\r\n\r\n");
    with.closed();
  });
  scene s(server.where());
  EXPECT_EQ(words(s.ask(get())), "503 busy");
  EXPECT_EQ(words(s.ask(get())), "404 ");
  const std::string said = words(s.ask(get()));
  EXPECT_THAT(said, HasSubstr("redirects (status 307) to http://other:1/x, which is not followed"));
  EXPECT_THAT(said, Not(HasSubstr("hunter2")));
}

TEST(Client, InterimRepliesAreNotTheReply) {
  scripted_server server([](peer& with, int) {
    with.request();
    with.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n");
    with.reply("final");
    with.closed();
  });
  scene s(server.where());
  EXPECT_EQ(words(s.ask(get())), "200 final");
}

TEST(Client, HeadHasNoBodyAndKeepsTheConnection) {
  scripted_server server([](peer& with, int) {
    with.request();
    with.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    with.request();
    with.reply("next");
    with.closed();
  });
  scene s(server.where());
  EXPECT_EQ(words(s.ask({.method = "HEAD", .target = "/"})), "200 ");
  EXPECT_EQ(words(s.ask(get())), "200 next");
}

TEST(Client, BodyMayEndWithTheConnection) {
  scripted_server server([](peer& with, int) {
    with.request();
    with.send("HTTP/1.0 200 OK\r\n\r\nall of it");
  });
  scene s(server.where());
  EXPECT_EQ(words(s.ask(get())), "200 all of it");
  EXPECT_EQ(words(s.ask(get())), "200 all of it");
  EXPECT_EQ(server.connections(), 2);
}

}  // namespace
}  // namespace tenure::tests
