// TLS files: errors in them are reported at start, and they may be replaced while the agent runs.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "scene.hpp"
#include "support/temporary_directory.hpp"
#include "tls_scene.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What is wrong with these settings at start.
std::string fault(http::tls_settings tls) {
  loop l;
  const auto client =
      http::make_http_client(l.io.get_executor(), {.tls = true, .host = "a", .port = 1}, tls);
  const auto checked = client->check();
  return checked ? "" : checked.error();
}

TEST(TlsFiles, WrongOneIsAnErrorAtStartThatNamesIt) {
  const std::string ca = certificate("ca.pem");
  const std::string client = certificate("client.pem");
  const std::string key = certificate("client.key");
  EXPECT_EQ(fault({}), "") << "the system's authorities";
  EXPECT_EQ(fault({.ca_file = ca, .certificate_file = client, .key_file = key}), "");
  EXPECT_THAT(fault({.ca_file = "/no/such.pem"}),
              HasSubstr("cannot use the CA file /no/such.pem: No such file or directory"));
  EXPECT_THAT(fault({.ca_file = "/etc"}), HasSubstr("it is a directory; name a file in it"));
  EXPECT_THAT(fault({.ca_file = key}), HasSubstr("it holds no PEM certificate"));
  EXPECT_THAT(fault({.certificate_file = client}), HasSubstr("only one is given"));
  EXPECT_THAT(fault({.key_file = key}), HasSubstr("only one is given"));
  EXPECT_THAT(fault({.certificate_file = key, .key_file = key}),
              HasSubstr("cannot use the certificate file " + key));
  EXPECT_THAT(fault({.certificate_file = client, .key_file = client}),
              HasSubstr("cannot use the key file " + client));
  EXPECT_THAT(fault({.certificate_file = client, .key_file = certificate("server.key")}),
              HasSubstr("it is not the key of " + client));
  EXPECT_THAT(fault({.certificate_file = client, .key_file = certificate("encrypted.key")}),
              HasSubstr("without a passphrase"));
}

std::string content(const std::string& file) {
  std::ifstream in(certificate(file));
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(TlsFiles, TextInsteadOfAFileIsHeldToTheSameAndNeverRepeated) {
  const std::string ca = content("ca.pem");
  const std::string client = content("client.pem");
  const std::string key = content("client.key");
  EXPECT_EQ(fault({.authorities = ca}), "");
  EXPECT_EQ(fault({.authorities = ca + content("other_ca.pem")}), "");
  EXPECT_EQ(fault({.certificate = client, .key = key}), "");
  EXPECT_EQ(fault({.key_file = certificate("client.key"), .certificate = client}), "");
  EXPECT_EQ(fault({.certificate_file = certificate("client.pem"), .key = key}), "");
  EXPECT_THAT(fault({.certificate = client}), HasSubstr("only one is given"));
  EXPECT_THAT(fault({.authorities = "sesame"}),
              HasSubstr("cannot use the CA certificate that is given as text: it is not a PEM"));
  EXPECT_THAT(fault({.certificate = key, .key = key}),
              HasSubstr("cannot use the certificate that is given as text: it is not a PEM"));
  EXPECT_THAT(fault({.certificate = client, .key = content("server.key")}),
              HasSubstr("the key that is given as text: it is not the key of the certificate"));
  EXPECT_THAT(fault({.certificate = client, .key = content("encrypted.key")}),
              HasSubstr("without a passphrase"));
  EXPECT_THAT(fault({.certificate = client, .key = "sesame"}), Not(HasSubstr("sesame")));
}

TEST(TlsFiles, TextInsteadOfAFileServesAConnection) {
  const tls_server server("server");
  scene s(server.where(), {}, {.authorities = content("ca.pem")});
  EXPECT_EQ(words(s.ask(get("/a"))), "200 GET /a ");
  scene other(server.where(), {}, {.authorities = content("other_ca.pem")});
  EXPECT_THAT(words(other.ask(get("/b"))), HasSubstr("unknown CA"));
}

TEST(TlsFiles, OneThatEverybodyCanWriteToVouchesForNobody) {
  const temporary_directory in;
  const std::string ca = in / "ca.pem";
  std::filesystem::copy_file(certificate("ca.pem"), ca);
  EXPECT_EQ(fault({.ca_file = ca}), "");
  std::filesystem::permissions(ca, std::filesystem::perms(0666));
  EXPECT_THAT(fault({.ca_file = ca}), HasSubstr("can be written to by other users (mode 0666)"));
}

TEST(TlsFiles, PlainEndpointNeedsNone) {
  loop l;
  const auto client = http::make_http_client(l.io.get_executor(), {.host = "a", .port = 1},
                                             {.ca_file = "/no/such"});
  EXPECT_TRUE(client->check());
}

TEST(TlsFiles, SwappedOneServesTheNextConnection) {
  const place p;
  std::optional<tls_server> server(std::in_place, "server");
  const settings::endpoint where = server->where();
  scene s(where, {}, {.ca_file = p.put("ca.pem", certificate("ca.pem"))});
  EXPECT_EQ(words(s.ask(get("/a"))), "200 GET /a ");

  server.reset();
  server.emplace("other_server", std::vector<std::string>{}, where.port);
  EXPECT_THAT(words(s.ask(get("/b"))), HasSubstr("unknown CA"));
  p.put("ca.pem", certificate("other_ca.pem"));
  EXPECT_EQ(words(s.ask(get("/c"))), "200 GET /c ");
}

TEST(TlsFiles, BadNewOneKeepsTheOldAndIsToldOnlyWhereAConnectionFails) {
  const place p;
  std::optional<tls_server> server(std::in_place, "server");
  const settings::endpoint where = server->where();
  scene s(where, {.idle = 0ms}, {.ca_file = p.put("ca.pem", certificate("ca.pem"))});
  EXPECT_EQ(words(s.ask(get("/a"))), "200 GET /a ");
  p.put("ca.pem", certificate("ca.key"));
  EXPECT_EQ(words(s.ask(get("/b"))), "200 GET /b ") << "over a new connection, with the old CA";

  server.reset();
  server.emplace("other_server", std::vector<std::string>{}, where.port);
  const std::string said = words(s.ask(get("/c")));
  EXPECT_THAT(said, HasSubstr("unknown CA"));
  EXPECT_THAT(said, HasSubstr("besides, cannot use the CA file " + p.file("ca.pem")));
  EXPECT_THAT(said, Not(HasSubstr("PRIVATE KEY")));
}

TEST(TlsFiles, FileThatWasBadAtStartServesOnceItIsGood) {
  const place p;
  const tls_server server("server");
  scene s(server.where(), {}, {.ca_file = p.file("ca.pem")});
  EXPECT_FALSE(s.client->check());
  EXPECT_THAT(words(s.ask(get("/a"))), HasSubstr("cannot use the CA file"));
  p.put("ca.pem", certificate("ca.pem"));
  EXPECT_EQ(words(s.ask(get("/b"))), "200 GET /b ");
}

}  // namespace
}  // namespace tenure::tests
