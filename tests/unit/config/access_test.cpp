#include "settings/endpoint.hpp"
#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using tests::expect_golden;

/// `text` as tenure.yaml for a build that has etcd.
inputs etcd_file(const std::string& text) {
  inputs in = only_file("{store: etcd, election: db}\n");
  in.file = file{"tenure.yaml", "store: etcd\nelection: db\n" + text};
  return in;
}

std::vector<std::string> warnings_of(const inputs& in) {
  std::vector<std::string> out;
  for (const problem& p : good(in).warnings) out.push_back(render(p));
  return out;
}

TEST(Access, AllOfItIsTakenAsGiven) {
  const configuration s = good(
      etcd_file("endpoint: [https://a:2379, https://b:2379]\nca_file: /tls/ca.pem\n"
                "certificate_file: /tls/tls.crt\nkey_file: /tls/tls.key\n"
                "server_name: etcd.example\nuser: tenure\npassword_file: /etc/secret/password\n"));
  EXPECT_EQ(s.secure, (security{.ca_file = "/tls/ca.pem",
                                .certificate_file = "/tls/tls.crt",
                                .key_file = "/tls/tls.key",
                                .server_name = "etcd.example",
                                .user = "tenure",
                                .password_file = "/etc/secret/password"}));
  EXPECT_EQ(s.origin_of(setting::password_file), (origin{source::file, "tenure.yaml:9:1"}));
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST(Access, NothingOfItIsNeeded) {
  const configuration s = good(etcd_file("endpoint: https://a:2379\n"));
  EXPECT_EQ(s.secure, security());
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST(Access, EtcdWithoutAnEndpointIsShownOne) {
  expect_golden(problems_of(etcd_file("")));
}

TEST(Access, OfAnEndpointSchemeHostAndPortAreJudged) {
  for (const char* good_one :
       {"http://127.0.0.1:2379", "https://etcd-0.etcd:2379", "http://a", "HTTPS://A:1",
        "http://[::1]:65535", "https://[fe80::1]", "http://a:2379/", "https://a/prefix/x:y"}) {
    EXPECT_TRUE(settings::parse_endpoint(good_one, 2379)) << good_one;
  }
  struct row {
    const char* endpoint;
    const char* problem;
  };
  for (const row& r : {
           row{"127.0.0.1:2379", "does not say whether to use TLS; put http:// or https:// in"},
           row{"/var/lib/tenure.db", "does not say whether to use TLS"},
           row{"ftp://a", "is neither http nor https; write it like http://10.0.0.1:2379"},
           row{"ht-tp://a", "is neither http nor https"},
           row{"://a", "is neither http nor https"},
           row{"http://", "has no host"},
           row{"http://:2379", "has no host"},
           row{"http:///prefix", "has no host"},
           row{"http://a b", "has a blank"},
           row{"http://a,b", "has a character in its host"},
           row{"http://caf\u00e9", "outside ASCII"},
           row{"http://a:", "has a port that is not from 1 to 65535"},
           row{"http://a:0", "has a port"},
           row{"http://a:65536", "has a port"},
           row{"http://a:1:2", "has a port"},
           row{"http://::1", "has an IPv6 address without brackets"},
           row{"http://[::1", "has no IPv6 address in its brackets"},
           row{"http://[]:1", "has no IPv6 address in its brackets"},
           row{"http://[127.0.0.1]:1", "has no IPv6 address in its brackets"},
           row{"http://[::1]2379", "has something other than a port behind its bracket"},
           row{"http://a?x=1", "has a query or a fragment"},
           row{"http://a#x", "has a query or a fragment"},
       }) {
    expect_golden(problems_of(etcd_file("endpoint: \"" + std::string(r.endpoint) + "\"\n")));
  }
}

TEST(Access, EveryWrongEndpointIsNamedAtOnce) {
  expect_golden(problems_of(etcd_file("endpoint: [a:1, http://b, http://:3]\n")));
}

TEST(Access, ASecretInAnEndpointIsNeverRepeated) {
  for (const char* endpoint :
       {"http://root:hunter2@a:2379", "https://hunter2@a", "root:hunter2@a:2379",
        "http://root:hunter2?@a", "http://root:hunter2#@a", "http://root:p@hunter2@a",
        "http://root:hunter2/@a", "hunter2://x@a", "ftp://root:hunter2@a", "http://a?key=hunter2",
        "http://root:hunter2@a\\n", "http://root:a@b?hunter2"}) {
    const std::string line = "endpoint: [\"" + std::string(endpoint) + "\", x]\n";
    for (const char* store : {"etcd", "sqlite", "consul", "none", "[]"}) {
      inputs in = only_file("store: " + std::string(store) + "\nelection: db\n" + line);
      EXPECT_THAT(problems_of(in), Not(IsEmpty())) << endpoint;
      EXPECT_THAT(testing::PrintToString(problems_of(in)), Not(HasSubstr("hunter2"))) << endpoint;
    }
  }
  expect_golden(problems_of(etcd_file("endpoint: 'http://root:hunter2@a:2379'\n")));
}

TEST(Access, AUserInAUrlIsRefusedForAStoreThatIsNotKnownYet) {
  inputs in = only_file("endpoint: http://root:hunter2@a\n");
  in.partial = true;
  expect_golden(problems_of(in));
}

TEST(Access, AHalfIsNoUse) {
  struct row {
    const char* text;
    const char* problem;
  };
  for (const row& r : {
           row{"certificate_file: /c",
               "tenure.yaml:4:1: certificate_file is given without "
               "key_file; give both, or none; they may be one file"},
           row{"key_file: /k",
               "tenure.yaml:4:1: key_file is given without certificate_file; give "
               "both, or none"},
           row{"user: u",
               "tenure.yaml:4:1: user is given without password_file; name the file "
               "that holds the password of this user"},
           row{"password_file: /p",
               "tenure.yaml:4:1: password_file is given without user; give "
               "both, or none"},
       }) {
    inputs in = etcd_file("endpoint: https://a\n" + std::string(r.text) + "\n");
    EXPECT_THAT(problems_of(in), ElementsAre(r.problem));
    in.partial = true;
    EXPECT_THAT(problems_of(in), IsEmpty()) << "nothing is required of those who ask for sums";
  }
}

TEST(Access, TheOtherHalfMayComeFromElsewhere) {
  inputs in = etcd_file("endpoint: https://a\nuser: u\ncertificate_file: /c\n");
  in.environment = {{"TENURE_PASSWORD_FILE", "/p"}};
  in.flags = {{"--key-file", "/k"}};
  EXPECT_EQ(good(in).secure.password_file, "/p");
  in.environment.front().second = "\n";
  expect_golden(problems_of(in));
}

TEST(Access, WhatIsForTlsNeedsAnEndpointWithTls) {
  for (const char* text :
       {"ca_file: /ca", "server_name: a", "key_file: /k\ncertificate_file: /k"}) {
    expect_golden(problems_of(etcd_file("endpoint: [http://a, http://b]\n" + std::string(text))));
    EXPECT_THAT(problems_of(etcd_file("endpoint: https://a\n" + std::string(text))), IsEmpty());
  }
  expect_golden(problems_of(etcd_file("endpoint: a\nca_file: /ca\n")));
}

TEST(Access, OnePlainEndpointAmongOthersIsWarnedOf) {
  EXPECT_THAT(warnings_of(etcd_file("endpoint: [https://a, http://b]\nca_file: /ca\n")),
              ElementsAre(StartsWith("tenure.yaml:3:1: endpoint \"http://b\" is plain http, and "
                                     "others are https")));
}

TEST(Access, APasswordInTheClearIsWarnedOfUnlessItStaysOnTheMachine) {
  const std::string sign_in = "user: u\npassword_file: /p\n";
  EXPECT_THAT(warnings_of(etcd_file("endpoint: http://10.0.0.1:2379\n" + sign_in)),
              ElementsAre("tenure.yaml:3:1: the password of \"u\" crosses the network in the clear "
                          "to \"http://10.0.0.1:2379\"; use https"));
  EXPECT_THAT(warnings_of(etcd_file("endpoint: [http://localhost, http://b]\n" + sign_in)),
              ElementsAre(HasSubstr(R"(to "http://b")")));
  for (const char* endpoint : {"https://10.0.0.1", "http://127.0.0.1:2379", "http://[::1]:2379",
                               "http://LocalHost", "http://127.9.9.9"}) {
    EXPECT_THAT(warnings_of(etcd_file("endpoint: '" + std::string(endpoint) + "'\n" + sign_in)),
                IsEmpty())
        << endpoint;
  }
  EXPECT_THAT(warnings_of(etcd_file("endpoint: http://10.0.0.1:2379\n")), IsEmpty());
}

TEST(Access, SqliteHasNoServerToSignInTo) {
  expect_golden(problems_of(with_file("ca_file: /ca\nuser: u\ncertificate_file: /c\n")));
}

/// `text` as tenure.yaml for Leases of Kubernetes.
inputs kubernetes_file(const std::string& text) {
  return only_file("store: kubernetes\nelection: db\n" + text);
}

TEST(Access, KubernetesHasATokenAndANamespace) {
  const configuration s =
      good(kubernetes_file("endpoint: ['https://a', 'https://[::1]:6443']\n"
                           "token_file: /t\nca_file: /ca\nnamespace: team\n"));
  EXPECT_THAT(s.endpoints, ElementsAre("https://a", "https://[::1]:6443"));
  EXPECT_EQ(s.secure, (security{.ca_file = "/ca", .token_file = "/t"}));
  EXPECT_EQ(s.name_space, "team");
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST(Access, KubernetesHasNoPasswords) {
  expect_golden(problems_of(kubernetes_file("endpoint: https://a\nuser: u\npassword_file: /p\n")));
}

TEST(Access, WhatOnlyConsulHasIsRefusedForKubernetes) {
  for (const char* text :
       {"datacenter: dc1", "partition: p", "session_lock_delay: 1s", "session_behavior: delete",
        "session_without_ttl: true", "node_check: serfHealth", "service_check: service:a"}) {
    expect_golden(problems_of(kubernetes_file("endpoint: https://a\n" + std::string(text) + "\n")));
  }
}

TEST(Access, ALockDelayThatDoesNothingForASemaphoreIsWarnedOf) {
  const auto warnings = [](const std::string& text) {
    return warnings_of(only_file("store: consul\nendpoint: http://127.0.0.1\n" + text));
  };
  EXPECT_THAT(warnings("session_lock_delay: 15s\nelection: db\n"), IsEmpty());
  EXPECT_THAT(warnings("slots: 3\nelection: db\n"), IsEmpty());
  EXPECT_THAT(
      warnings("session_lock_delay: 15s\nslots: 3\nelection: db\n"),
      ElementsAre(AllOf(StartsWith("tenure.yaml:3:1: session_lock_delay does nothing for the 3 "
                                   "slots of election \"db\": Consul delays locks"),
                        HasSubstr("give lock_delay the time"))));
  EXPECT_THAT(warnings("session_lock_delay: 15s\nelections:\n  - db\n  - {name: q, slots: 2}\n"),
              ElementsAre(HasSubstr("the 2 slots of election \"q\"")));
}

TEST(Access, GossipThatEndsSessionsNeedsALockDelayOfATtl) {
  const auto warnings = [](const std::string& text) {
    return warnings_of(
        only_file("store: consul\nendpoint: http://127.0.0.1\nelection: db\n"
                  "ttl: 20s\n" +
                  text));
  };
  EXPECT_THAT(warnings("node_check: alive\n"), IsEmpty());
  EXPECT_THAT(warnings("node_check: serfHealth\nsession_lock_delay: 20s\n"), IsEmpty());
  EXPECT_THAT(warnings("node_check: [alive, serfHealth]\nsession_lock_delay: 15s\n"),
              ElementsAre(AllOf(StartsWith("tenure.yaml:5:1: node_check serfHealth lets another"),
                                HasSubstr("session_lock_delay at least the ttl (20s"))));
}

TEST(Access, StoresWithoutTokensSayWhichStoresHaveThem) {
  for (const char* text : {"token_file: /t", "namespace: n"}) {
    expect_golden(problems_of(etcd_file("endpoint: https://a\n" + std::string(text) + "\n")));
  }
}

TEST(Access, KubernetesOutsideOfAPodNeedsAnEndpoint) {
  expect_golden(problems_of(kubernetes_file("")));
}

TEST(Access, KubernetesIsRenewedOnceASecondAtMost) {
  const auto with = [](const std::string& text) {
    return problems_of(kubernetes_file("endpoint: https://a\n" + text));
  };
  EXPECT_THAT(with("ttl: 3s\n"), IsEmpty());
  EXPECT_THAT(with("ttl: 2s\nrenew: 1s\n"), IsEmpty());
  EXPECT_THAT(with("ttl: 2s\n"),
              ElementsAre("tenure.yaml:4:1: renew is 666.667ms, a third of ttl; in kubernetes a "
                          "lease is not renewed more often than every 1s; give a ttl of at least "
                          "3s"));
  EXPECT_THAT(with("renew: 500ms\n"),
              ElementsAre("tenure.yaml:4:1: renew is 500ms; in kubernetes a lease is not renewed "
                          "more often than every 1s; give a longer one"));
}

TEST(Access, EtcdGrantsWholeSeconds) {
  const auto with_ttl = [](const std::string& ttl) {
    return etcd_file("endpoint: https://a\nttl: " + ttl + "\n");
  };
  EXPECT_THAT(
      warnings_of(with_ttl("2500ms")),
      ElementsAre("tenure.yaml:4:1: ttl is 2.5s; etcd grants whole seconds, here 3s; give 3s"));
  for (const char* ttl : {"3s", "3000ms", "1m", "1.0s"}) {
    EXPECT_THAT(warnings_of(with_ttl(ttl)), IsEmpty()) << ttl;
  }
  EXPECT_THAT(good(with_file("ttl: 2500ms\n")).warnings, IsEmpty()) << "sqlite keeps any ttl";
}

TEST(Access, OneServerIsOneEndpointHoweverItIsWritten) {
  inputs in = minimal();
  in.flags = {{"--store", "etcd"},           {"--election", "db"},
              {"--endpoint", "http://a:1"},  {"--endpoint", "HTTP://A:1/"},
              {"--endpoint", "http://a:10"}, {"--endpoint", "http://a:1/b"}};
  expect_golden(problems_of(in));
}

TEST(Access, AFileForAPodNeedsNoEndpointWhereItIsChecked) {
  inputs in = only_file("store: kubernetes\nelection: db\n");
  in.file_alone = true;
  ASSERT_EQ(good(in).warnings.size(), 1U);
  expect_golden(render(good(in).warnings.front()));
  in.file_alone = false;
  expect_golden(problems_of(in));
}

}  // namespace
}  // namespace tenure::config::test
