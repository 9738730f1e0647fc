// Against a TLS server that is not ours, in a process of its own.
#include <gmock/gmock.h>

#include "scene.hpp"
#include "tls_scene.hpp"

namespace tenure::tests {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

http::tls_settings trusting(const std::string& ca) {
  return {.ca_file = certificate(ca)};
}

std::string asked(const settings::endpoint& where, http::tls_settings tls) {
  scene s(where, {}, std::move(tls));
  return words(s.ask(post("{}", "/a")));
}

TEST(Tls, ServerThatProvesItselfIsSpokenTo) {
  const tls_server server("server");
  scene s(server.where(), {}, trusting("ca.pem"));
  EXPECT_TRUE(s.client->check());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(words(s.ask(post("{}", "/a"))), "200 POST /a {}");
  const std::string large(1024 * 1024, 'x');
  EXPECT_EQ(words(s.ask(post(large, "/b"))), "200 POST /b " + large);
}

TEST(Tls, NamesAreCheckedAsNames) {
  const tls_server server("server", {"--tls12"});
  settings::endpoint where = server.where();
  where.host = "localhost";
  EXPECT_EQ(asked(where, trusting("ca.pem")), "200 POST /a {}");
}

TEST(Tls, StreamComesOverTlsToo) {
  const tls_server server("server");
  scene s(server.where(), {}, trusting("ca.pem"));
  std::string data;
  std::optional<std::optional<http::client_error>> end;
  const auto stream = s.client->stream(post("{}", "/watch"), soon(),
                                       {.data = [&](std::string_view piece) { data += piece; },
                                        .ended = [&](auto how) { end = std::move(how); }});
  ASSERT_TRUE(s.run_until([&] { return end.has_value(); }));
  EXPECT_FALSE(end->has_value());
  EXPECT_EQ(data, "POST /watch {}");
}

TEST(Tls, UnknownAuthorityIsRefused) {
  const tls_server server("server");
  const std::string said = asked(server.where(), trusting("other_ca.pem"));
  EXPECT_THAT(said, StartsWith("not sent: POST /a at https://127.0.0.1:"));
  EXPECT_THAT(said, HasSubstr("the certificate is from an unknown CA; give the CA"));
  EXPECT_THAT(asked(server.where(), {}), HasSubstr("unknown CA")) << "the system knows ours not";
}

TEST(Tls, ExpiredCertificateIsRefusedWithItsDate) {
  const tls_server server("expired");
  const std::string said = asked(server.where(), trusting("ca.pem"));
  EXPECT_THAT(said, StartsWith("not sent: "));
  EXPECT_THAT(said, HasSubstr("the certificate expired on Feb  1 00:00:00 2020 GMT"));
}

TEST(Tls, CertificateOfAnotherHostIsRefusedWithItsNames) {
  const tls_server server("elsewhere");
  const std::string said = asked(server.where(), trusting("ca.pem"));
  EXPECT_THAT(said, StartsWith("not sent: "));
  EXPECT_THAT(said, HasSubstr("not for 127.0.0.1 but for etcd-0.example, 10.1.2.3"));
  settings::endpoint named = server.where();
  named.host = "localhost";
  EXPECT_THAT(asked(named, trusting("ca.pem")), HasSubstr("not for localhost but for"));
}

TEST(Tls, ServerNameIsCheckedInsteadOfTheHost) {
  const tls_server server("elsewhere");
  http::tls_settings tls = trusting("ca.pem");
  tls.server_name = "etcd-0.example";
  EXPECT_EQ(asked(server.where(), tls), "200 POST /a {}");
  tls.server_name = "10.1.2.3";
  EXPECT_EQ(asked(server.where(), tls), "200 POST /a {}");
  tls.server_name = "etcd-1.example";
  EXPECT_THAT(asked(server.where(), tls), HasSubstr("not for etcd-1.example"));
}

TEST(Tls, ClientProvesItselfWithItsOwnCertificate) {
  for (const std::vector<std::string>& version : {std::vector<std::string>{}, {"--tls12"}}) {
    std::vector<std::string> options{"--client-ca", certificate("ca.pem")};
    options.insert(options.end(), version.begin(), version.end());
    const tls_server server("server", options);
    http::tls_settings tls = trusting("ca.pem");
    tls.certificate_file = certificate("client.pem");
    tls.key_file = certificate("client.key");
    EXPECT_EQ(asked(server.where(), tls), "200 POST /a {}");

    EXPECT_THAT(asked(server.where(), trusting("ca.pem")), HasSubstr("want"))
        << "a client certificate, that is";
    EXPECT_THAT(asked(server.where(), trusting("ca.pem")), HasSubstr("a client certificate"));

    tls.certificate_file = certificate("other_server.pem");
    tls.key_file = certificate("other_server.key");
    EXPECT_THAT(asked(server.where(), tls), HasSubstr("does not accept the client certificate"));
  }
}

TEST(Tls, ServerOfPlainHttpIsRecognized) {
  scripted_server server([](peer& with, int) {
    with.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    with.closed();
  });
  settings::endpoint where = server.where();
  where.tls = true;
  const std::string said = asked(where, trusting("ca.pem"));
  EXPECT_THAT(said, StartsWith("not sent: "));
  EXPECT_THAT(said, HasSubstr("does it serve plain HTTP (http://)?"));
}

TEST(Tls, PlainRequestToATlsServerSaysSo) {
  const tls_server server("server");
  settings::endpoint where = server.where();
  where.tls = false;
  EXPECT_THAT(asked(where, {}), StartsWith("in doubt: "));
}

TEST(Tls, HandshakeThatHangsEndsAtTheDeadline) {
  scripted_server server([](peer& with, int) { with.closed(); });
  settings::endpoint where = server.where();
  where.tls = true;
  scene s(where, {}, trusting("ca.pem"));
  const std::string said = words(s.ask(get(), shortly()));
  EXPECT_THAT(said, StartsWith("not sent: "));
  EXPECT_THAT(said, HasSubstr("no answer in time"));
  EXPECT_THAT(said, HasSubstr("the TLS handshake with 127.0.0.1:"));
}

TEST(Tls, ServerThatHangsUpInTheHandshakeIsToldApart) {
  scripted_server server([](peer&, int) {});
  settings::endpoint where = server.where();
  where.tls = true;
  const std::string said = asked(where, trusting("ca.pem"));
  EXPECT_THAT(said, StartsWith("not sent: "));
  EXPECT_THAT(said, AnyOf(HasSubstr("closed the connection in the TLS handshake"),
                          HasSubstr("ECONNRESET")));
}

}  // namespace
}  // namespace tenure::tests
