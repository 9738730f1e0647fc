// Consul behind TLS: who it has to be, who we have to be, and certificates that change.

#include "consul_scene.hpp"
#include "http/tls_scene.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ConsulTls : public ConsulScene {
 protected:
  /// A Consul with the server certificate of this name.
  void serve_as(const std::string& name, const std::string& client_ca = {}) {
    start({.tls = servers::consul_tls{.certificate = certificate(name + ".pem"),
                                      .key = certificate(name + ".key"),
                                      .client_ca = client_ca}});
  }

  [[nodiscard]] stores::setup trusting(const std::string& ca_file) const {
    stores::setup made = settings("a", 60s);
    made.secure.ca_file = ca_file;
    return made;
  }

  /// Opens the store, is granted nothing, and hears why.
  void expect_no_trust(const stores::setup& with, const testing::Matcher<std::string>& why) {
    member a(loop_, with);
    const auto opened = a.open();
    std::string said = opened ? "" : opened.error().text;
    for (const std::string& one : opened ? opened->warnings : std::vector<std::string>()) {
      said += one + "\n";
    }
    EXPECT_THAT(said, AllOf(why, HasSubstr(with.endpoints.front())));
    a.answer_within(1s);
    EXPECT_THAT(words(a.acquire()), AllOf(StartsWith("unknown"), why));
    EXPECT_FALSE(lock());
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulTls, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulTls, CallsAndWatchWorkWithTheCaFile) {
  serve_as("server");
  auto a = join(trusting(certificate("ca.pem")));
  const auto seen = a->watch();
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  const stores::grant held = a->hold();
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
}

TEST_P(ConsulTls, ServerOfAnotherCaIsNotTrusted) {
  serve_as("server");
  expect_no_trust(trusting(certificate("other_ca.pem")), HasSubstr("certificate"));
}

TEST_P(ConsulTls, ExpiredCertificateIsNotTrusted) {
  serve_as("expired");
  expect_no_trust(trusting(certificate("ca.pem")), HasSubstr("expired"));
}

TEST_P(ConsulTls, CertificateOfAnotherHostIsNotTrustedUnlessItsNameIsExpected) {
  serve_as("elsewhere");
  stores::setup with = trusting(certificate("ca.pem"));
  expect_no_trust(with, HasSubstr("127.0.0.1"));
  with.secure.server_name = "etcd-0.example";
  auto a = join(with);
  const stores::grant held = a->hold();
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
}

TEST_P(ConsulTls, MissingCaFileEndsTheAgentAndIsNamed) {
  serve_as("server");
  member a(loop_, trusting("/nowhere/ca.pem"));
  const auto opened = a.open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text, HasSubstr("/nowhere/ca.pem"));
}

TEST_P(ConsulTls, ClientCertificateIsPresentedWhereItIsWanted) {
  serve_as("server", certificate("ca.pem"));
  stores::setup with = trusting(certificate("ca.pem"));
  expect_no_trust(with, HasSubstr("certificate"));
  with.secure.certificate_file = certificate("client.pem");
  with.secure.key_file = certificate("client.key");
  auto a = join(with);
  const stores::grant held = a->hold();
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
}

TEST_P(ConsulTls, ClientCertificateOfAnotherCaIsRefused) {
  serve_as("server", certificate("ca.pem"));
  stores::setup with = trusting(certificate("ca.pem"));
  with.secure.certificate_file = certificate("other_server.pem");
  with.secure.key_file = certificate("other_server.key");
  expect_no_trust(with, HasSubstr("certificate"));
}

/// All certificates of both sides, at once, as when an operator changes to another CA. Sessions
/// outlive the restart of their server.
TEST_P(ConsulTls, RenewalsGoOnWhenCaAndCertificatesAreReplaced) {
  const place secrets;
  start({.tls = servers::consul_tls{
             .certificate = secrets.put("server.pem", certificate("server.pem")),
             .key = secrets.put("server.key", certificate("server.key")),
             .client_ca = secrets.put("client_ca.pem", certificate("ca.pem"))}});
  stores::setup with = trusting(secrets.put("ca.pem", certificate("ca.pem")));
  with.secure.certificate_file = secrets.put("client.pem", certificate("client.pem"));
  with.secure.key_file = secrets.put("client.key", certificate("client.key"));
  auto a = join(with);
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));

  cluster_->stop(0);
  for (const char* side : {"server", "client"}) {
    secrets.put(std::string(side) + ".pem", certificate("other_server.pem"));
    secrets.put(std::string(side) + ".key", certificate("other_server.key"));
  }
  secrets.put("client_ca.pem", certificate("other_ca.pem"));
  cluster_->start(0);
  cluster_->wait_until_healthy();
  a->answer_within(3s);
  EXPECT_THAT(words(a->renew(term(held.version))),
              AllOf(StartsWith("unknown"), HasSubstr("certificate")))
      << "the new server is not of the CA that we trust";

  secrets.put("ca.pem", certificate("other_ca.pem"));
  std::string said;
  EXPECT_TRUE(eventually(loop_, [&] {
    said = words(a->renew(term(held.version)));
    return said == "renewed" || said.starts_with("lost");
  }));
  EXPECT_EQ(said, "renewed");
  a->answer_within(patience);
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(nobody) || !seen->broken.empty(); }));
}

TEST_P(ConsulTls, PlainEndpointOfATlsServerIsRefusedAndSaysWhatToWrite) {
  serve_as("server");
  stores::setup with = settings("a", 60s);
  with.endpoints = {"http://127.0.0.1:" + std::to_string(cluster_->tls_port())};
  member a(loop_, with);
  const auto opened = a.open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text, AllOf(HasSubstr(with.endpoints.front()),
                                         HasSubstr("write the endpoint as https://")));
}

TEST_P(ConsulTls, TlsEndpointOfAPlainServerGrantsNothingAndIsNamed) {
  start();
  stores::setup with = trusting(certificate("ca.pem"));
  with.endpoints = {"https://127.0.0.1:" + std::to_string(cluster_->port())};
  expect_no_trust(with, testing::_);
}

}  // namespace
}  // namespace tenure::tests
