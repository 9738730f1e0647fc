// etcd behind TLS: who it has to be, who we have to be, and certificates that change.

#include "etcd_scene.hpp"
#include "http/server/listening_socket.hpp"
#include "http/tls_scene.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class EtcdTls : public EtcdFault {
 protected:
  /// An etcd with the server certificate of this name.
  void start(const std::string& name, const std::string& client_ca = {}) {
    start_with(certificate(name + ".pem"), certificate(name + ".key"), client_ca);
  }
  void start_with(const std::string& pem, const std::string& key,
                  const std::string& client_ca = {}) {
    etcd_ = std::make_unique<servers::etcd_cluster>(
        GetParam(),
        servers::etcd_options{
            .tls = servers::etcd_tls{.certificate = pem, .key = key, .client_ca = client_ca},
            .flags = {}});
  }

  [[nodiscard]] stores::setup trusting(const std::string& ca_file) const {
    stores::setup made = settings("a", {etcd_->endpoint()});
    made.secure.ca_file = ca_file;
    return made;
  }

  /// Opens the store, is granted nothing, and hears why.
  void expect_no_trust(const stores::setup& with, const std::string& why) {
    member a(loop_, with);
    const auto opened = a.open();
    EXPECT_THAT(words(opened) + warnings_of(opened),
                AllOf(HasSubstr(why), HasSubstr(with.endpoints.front())));
    EXPECT_THAT(words(acquire(a, try_time)), AllOf(StartsWith("unknown"), HasSubstr(why)));
  }

  std::unique_ptr<servers::etcd_cluster> etcd_;
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdTls, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdTls, CallsAndWatchWorkWithTheCaFile) {
  start("server");
  auto a = join(trusting(certificate("ca.pem")));
  const auto seen = a->watch();
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
  const stores::grant held = a->hold();
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(nobody); }));
}

TEST_P(EtcdTls, ServerOfAnotherCaIsNotTrusted) {
  start("server");
  expect_no_trust(trusting(certificate("other_ca.pem")), "certificate");
}

TEST_P(EtcdTls, ExpiredCertificateIsNotTrusted) {
  start("expired");
  expect_no_trust(trusting(certificate("ca.pem")), "expired");
}

TEST_P(EtcdTls, CertificateOfAnotherHostIsNotTrustedUnlessItsNameIsExpected) {
  start("elsewhere");
  stores::setup with = trusting(certificate("ca.pem"));
  expect_no_trust(with, "127.0.0.1");
  with.secure.server_name = "etcd-0.example";
  auto a = join(with);
  EXPECT_EQ(words(a->acquire()), "granted");
}

TEST_P(EtcdTls, MissingCaFileEndsTheAgentAndIsNamed) {
  start("server");
  member a(loop_, trusting("/nowhere/ca.pem"));
  EXPECT_THAT(words(a.open()), AllOf(StartsWith("error: "), HasSubstr("/nowhere/ca.pem")));
}

TEST_P(EtcdTls, ClientCertificateIsPresentedWhereItIsWanted) {
  start("server", certificate("ca.pem"));
  stores::setup with = trusting(certificate("ca.pem"));
  {
    member without(loop_, with);
    const auto opened = without.open();
    EXPECT_THAT(words(opened) + warnings_of(opened), HasSubstr("certificate"));
    EXPECT_THAT(words(acquire(without, try_time)), StartsWith("unknown"));
  }
  with.secure.certificate_file = certificate("client.pem");
  with.secure.key_file = certificate("client.key");
  auto a = join(with);
  const stores::grant held = a->hold();
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
}

TEST_P(EtcdTls, RenewalsGoOnWhenCaAndCertificateAreReplaced) {
  const place secrets;
  const std::string pem = secrets.put("server.pem", certificate("server.pem"));
  const std::string key = secrets.put("server.key", certificate("server.key"));
  start_with(pem, key);
  const std::string ca = secrets.put("ca.pem", certificate("ca.pem"));
  servers::tcp_proxy proxy(etcd_->port());
  stores::setup with = trusting(ca);
  with.endpoints = {proxy.endpoint("https")};
  auto a = join(with);
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");

  secrets.put("server.pem", certificate("other_server.pem"));
  secrets.put("server.key", certificate("other_server.key"));
  secrets.put("ca.pem", certificate("other_ca.pem"));
  proxy.cut();
  EXPECT_TRUE(
      renews_until(*a, held.version, [](const std::string& said) { return said == "renewed"; }));
  EXPECT_EQ(words(a->release(0, held.version)), "released");
  EXPECT_TRUE(eventually([&] { return seen->shows(nobody) || !seen->broken.empty(); }));
}

TEST_P(EtcdTls, CertificateThatRunsOutInATermIsNamedAndRenewalsGoOnOnceItIsRenewed) {
  const place secrets;
  const std::string pem = secrets.put("server.pem", certificate("server.pem"));
  const std::string key = secrets.put("server.key", certificate("server.key"));
  start_with(pem, key);
  servers::tcp_proxy proxy(etcd_->port());
  stores::setup with = trusting(certificate("ca.pem"));
  with.endpoints = {proxy.endpoint("https")};
  auto a = join(with);
  const stores::grant held = a->hold();

  secrets.put("server.pem", certificate("expired.pem"));
  secrets.put("server.key", certificate("expired.key"));
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed") << "the connection stands";
  proxy.cut();
  EXPECT_TRUE(renews_until(*a, held.version, [](const std::string& said) {
    return said.starts_with("unknown") && said.contains("expired");
  }));
  EXPECT_THAT(words(a->release(0, held.version)),
              AllOf(StartsWith("unknown"), HasSubstr("expired")));

  secrets.put("server.pem", certificate("server.pem"));
  secrets.put("server.key", certificate("server.key"));
  EXPECT_TRUE(
      renews_until(*a, held.version, [](const std::string& said) { return said == "renewed"; }));
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

TEST_P(EtcdTls, PlainEndpointOfATlsServerGrantsNothingAndIsNamed) {
  start("server");
  const stores::setup with = settings("a", {"http://127.0.0.1:" + std::to_string(etcd_->port())});
  member a(loop_, with);
  const auto opened = a.open();
  EXPECT_THAT(words(opened) + warnings_of(opened), HasSubstr(with.endpoints.front()));
  EXPECT_THAT(words(acquire(a, try_time)), StartsWith("unknown"));
}

TEST_P(EtcdFault, Ipv6EndpointWorks) {
  const servers::etcd_cluster etcd(GetParam());
  const auto loopback = http::open_listening_socket({.host = "::1", .port = 0});
  if (!loopback) GTEST_SKIP() << "this machine has no ::1: " << loopback.error().text;
  servers::tcp_proxy proxy(etcd.port(), "::1");
  auto a = join(settings("a", {proxy.endpoint()}));
  const stores::grant held = a->hold();
  const auto seen = a->watch();
  EXPECT_TRUE(loop_.run_until([&] { return seen->shows(held_by("a")); }));
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
}

}  // namespace
}  // namespace tenure::tests
