#include <map>

#include "base/base64.hpp"
#include "support.hpp"

namespace tenure::config::test {
namespace {

using settings::inline_security;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using tests::expect_golden;

constexpr const char* path = "/home/u/.kube/config";
constexpr const char* certificate =
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
constexpr const char* key = "-----BEGIN PRIVATE KEY-----\nsesame\n-----END PRIVATE KEY-----\n";

std::string in_base64(std::string_view text) {
  return base::to_base64(text);
}

/// A kubeconfig with one context, of the cluster "main" and the user "me".
std::string kubeconfig(const std::string& cluster, const std::string& user,
                       const std::string& context = "cluster: main, user: me") {
  return "current-context: here\n"
         "contexts: [{name: here, context: {" +
         context +
         "}}]\n"
         "clusters: [{name: main, cluster: {" +
         cluster +
         "}}]\n"
         "users: [{name: me, user: {" +
         user + "}}]\n";
}

/// An agent that is to read this kubeconfig, with the flag.
inputs with_kubeconfig(std::string text, std::vector<name_and_value> more = {}) {
  inputs in;
  in.host_name = "host-1";
  in.flags = {{"--store", "kubernetes"}, {"--election", "db"}, {"--kubeconfig", path}};
  in.flags.insert(in.flags.end(), more.begin(), more.end());
  in.read = [text = std::move(text)](const std::string& name) -> file_result {
    if (name == path) return file{name, text};
    return std::unexpected(problem{name, "the file cannot be read: no such file", ""});
  };
  return in;
}

/// The same by the variable of kubectl.
inputs with_variable(std::string text) {
  inputs in = with_kubeconfig(std::move(text));
  in.flags.pop_back();
  in.kubeconfig = kubeconfig_variable{.path = path};
  return in;
}

constexpr const char* server = "server: 'https://10.0.0.1:6443'";
constexpr const char* by_token = "token: sesame";

TEST(Kubeconfig, SaysWhereTheApiServerIsWhomToTrustAndHowToSignIn) {
  const configuration s = good(with_kubeconfig(
      kubeconfig("server: 'https://10.0.0.1:6443', certificate-authority: /ca.crt, "
                 "tls-server-name: api.example",
                 "client-certificate: me.crt, client-key: keys/me.key, tokenFile: ../token",
                 "cluster: main, user: me, namespace: team")));
  EXPECT_THAT(s.endpoints, ElementsAre("https://10.0.0.1:6443"));
  EXPECT_EQ(s.secure, (security{.ca_file = "/ca.crt",
                                .certificate_file = "/home/u/.kube/me.crt",
                                .key_file = "/home/u/.kube/keys/me.key",
                                .server_name = "api.example",
                                .token_file = "/home/u/.kube/../token"}))
      << "relative to the kubeconfig";
  EXPECT_EQ(s.name_space, "team");
  EXPECT_EQ(s.kubeconfig, path);
  EXPECT_EQ(s.kube_context, "here");
  EXPECT_EQ(s.origin_of(setting::endpoint).where, "/home/u/.kube/config:3:43");
  EXPECT_EQ(s.origin_of(setting::kube_context).where, "/home/u/.kube/config:1:18");
  EXPECT_THAT(s.warnings, IsEmpty());
}

TEST(Kubeconfig, WhatStandsInItselfIsTakenAndNeverShown) {
  const inputs in = with_kubeconfig(
      kubeconfig(std::string(server) + ", certificate-authority-data: " + in_base64(certificate),
                 "client-certificate-data: " + in_base64(certificate) +
                     ", client-key-data: " + in_base64(key) + ", token: open-sesame"));
  const configuration s = good(in);
  EXPECT_EQ(s.secure.inlined, (inline_security{.authorities = certificate,
                                               .certificate = certificate,
                                               .key = key,
                                               .token = "open-sesame"}));
  EXPECT_EQ(s.secure.ca_file + s.secure.certificate_file + s.secure.key_file + s.secure.token_file,
            "");
  const std::string shown = effective(s);
  EXPECT_THAT(shown, Not(HasSubstr("sesame")));
  EXPECT_THAT(shown, Not(HasSubstr("BEGIN")));
  EXPECT_THAT(shown, Not(HasSubstr(in_base64(key))));
  for (const char* which : {"ca_file", "certificate_file", "key_file", "token_file"}) {
    EXPECT_THAT(shown, HasSubstr("\n# " + std::string(which) + ": in the kubeconfig"));
  }
  EXPECT_THAT(shown, HasSubstr("# /home/u/.kube/config:3:"));
}

TEST(Kubeconfig, WhatIsShownLoadsToTheSameSettings) {
  inputs in = with_kubeconfig(
      kubeconfig(std::string(server) + ", certificate-authority-data: " + in_base64(certificate),
                 by_token, "cluster: main, user: me, namespace: team"));
  const configuration first = good(in);
  in.flags.clear();
  in.file = file{"again.yaml", effective(first)};
  const configuration again = good(in);
  EXPECT_EQ(again.endpoints, first.endpoints);
  EXPECT_EQ(again.secure, first.secure);
  EXPECT_EQ(again.name_space, first.name_space);
  EXPECT_EQ(again.kube_context, first.kube_context);
}

TEST(Kubeconfig, DataWinsOverAPathAndATokensFileOverTheToken) {
  const configuration s = good(with_kubeconfig(kubeconfig(
      std::string(server) +
          ", certificate-authority: /ca.crt, certificate-authority-data: " + in_base64(certificate),
      "token: sesame, tokenFile: /t")));
  EXPECT_EQ(s.secure.ca_file, "");
  EXPECT_EQ(s.secure.inlined, (inline_security{.authorities = certificate}));
  EXPECT_EQ(s.secure.token_file, "/t");
}

TEST(Kubeconfig, Base64MayGoOnInTheNextLine) {
  std::string data = in_base64(certificate);
  data.insert(20, "\n            ");
  const configuration s =
      good(with_kubeconfig("current-context: here\n"
                           "contexts:\n"
                           "- {name: here, context: {cluster: main}}\n"
                           "clusters:\n"
                           "- name: main\n"
                           "  cluster:\n"
                           "    server: https://a\n"
                           "    certificate-authority-data: |\n"
                           "            " +
                           data + "\n"));
  EXPECT_EQ(s.secure.inlined.authorities, certificate);
}

TEST(Kubeconfig, WhatIsGivenElsewhereWins) {
  const configuration s = good(with_kubeconfig(
      kubeconfig(std::string(server) + ", certificate-authority: /ca.crt", "exec: {command: aws}",
                 "cluster: main, user: me, namespace: team"),
      {{"--endpoint", "https://b"},
       {"--ca-file", "/b"},
       {"--token-file", "/t"},
       {"--namespace", "mine"}}));
  EXPECT_THAT(s.endpoints, ElementsAre("https://b"));
  EXPECT_EQ(s.secure, (security{.ca_file = "/b", .token_file = "/t"}));
  EXPECT_EQ(s.name_space, "mine");
}

TEST(Kubeconfig, ATokenOrACertificateThatIsGivenIsInsteadOfTheUser) {
  const std::string text =
      kubeconfig(server, "client-certificate: c, client-key: k, token: sesame");
  EXPECT_EQ(good(with_kubeconfig(text, {{"--token-file", "/t"}})).secure,
            (security{.token_file = "/t"}));
  EXPECT_EQ(
      good(with_kubeconfig(text, {{"--certificate-file", "/c"}, {"--key-file", "/k"}})).secure,
      (security{.certificate_file = "/c", .key_file = "/k"}));
}

TEST(Kubeconfig, AnotherContextCanBeChosen) {
  const std::string text =
      "current-context: a\n"
      "contexts: [{name: a, context: {cluster: a}}, {name: b@c, context: {cluster: b}}]\n"
      "clusters: [{name: a, cluster: {server: 'https://a'}}, {name: b, cluster: {server: "
      "'https://b'}}]\n";
  EXPECT_THAT(good(with_kubeconfig(text)).endpoints, ElementsAre("https://a"));
  EXPECT_THAT(good(with_kubeconfig(text, {{"--kube-context", "b@c"}})).endpoints,
              ElementsAre("https://b"));
  expect_golden(problems_of(with_kubeconfig(text, {{"--kube-context", "x"}})));
}

TEST(Kubeconfig, TheVariableOfKubectlNamesItWhereNothingElseSaysWhereTheServerIs) {
  inputs in = with_variable(kubeconfig(server, by_token));
  const configuration s = good(in);
  EXPECT_THAT(s.endpoints, ElementsAre("https://10.0.0.1:6443"));
  EXPECT_EQ(s.origin_of(setting::kubeconfig), (origin{source::environment, "KUBECONFIG"}));
  EXPECT_THAT(s.warnings, IsEmpty());
  in.flags.emplace_back("--endpoint", "https://b");
  EXPECT_EQ(good(in).secure, security()) << "its token is for its server";
  EXPECT_EQ(good(in).kubeconfig, "");
}

TEST(Kubeconfig, APodKnowsItsClusterUnlessASettingNamesAnother) {
  inputs in = with_variable(kubeconfig(server, by_token));
  in.in_pod = pod{.endpoint = "https://10.96.0.1:443", .folder = "/sa", .name_space = "team"};
  EXPECT_THAT(good(in).endpoints, ElementsAre("https://10.96.0.1:443"));
  in.flags.emplace_back("--kubeconfig", path);
  const configuration s = good(in);
  EXPECT_THAT(s.endpoints, ElementsAre("https://10.0.0.1:6443"));
  EXPECT_EQ(s.secure.token_file, "") << "the pod's token is for its own cluster";
  EXPECT_EQ(s.secure.inlined.token, "sesame");
  EXPECT_EQ(s.name_space, "");
}

TEST(Kubeconfig, OfSeveralFilesInTheVariableOneIsReadAndThatIsSaid) {
  inputs in = with_variable(kubeconfig(server, by_token));
  in.kubeconfig->listed = 3;
  const configuration s = good(in);
  ASSERT_EQ(s.warnings.size(), 1U);
  EXPECT_EQ(render(s.warnings.front()),
            "KUBECONFIG: of the 3 files in it, /home/u/.kube/config alone is read; name the one "
            "that is meant with --kubeconfig");
}

TEST(Kubeconfig, OtherStoresHaveNone) {
  inputs in = with_variable(kubeconfig(server, by_token));
  in.flags = {{"--store", "etcd"}, {"--election", "db"}, {"--endpoint", "https://a"}};
  EXPECT_EQ(good(in).kubeconfig, "");
  in.flags.emplace_back("--kubeconfig", path);
  in.flags.emplace_back("--kube-context", "here");
  expect_golden(problems_of(in));
}

TEST(Kubeconfig, AContextNeedsIts) {
  inputs in = with_kubeconfig("");
  in.flags = {{"--store", "kubernetes"},
              {"--election", "db"},
              {"--endpoint", "https://a"},
              {"--kube-context", "here"}};
  expect_golden(problems_of(in));
}

TEST(Kubeconfig, OneThatCannotBeReadIsNamedAndNothingElseIsMissed) {
  inputs in = with_kubeconfig("");
  in.flags.back().second = "/other";
  expect_golden(problems_of(in));
  expect_golden(problems_of(with_kubeconfig("{a: b")));
  expect_golden(problems_of(with_kubeconfig("[]")));
  expect_golden(problems_of(with_kubeconfig("{apiVersion: v1}")));
}

TEST(Kubeconfig, AFileOfOursThatNamesOneCanBeCheckedElsewhere) {
  inputs in = with_kubeconfig(kubeconfig(server, by_token));
  in.flags.clear();
  in.file_alone = true;
  in.file = file{"tenure.yaml", "{store: kubernetes, election: db, kubeconfig: /other}"};
  const configuration s = good(in);
  EXPECT_THAT(s.endpoints, IsEmpty());
  ASSERT_EQ(s.warnings.size(), 1U);
  expect_golden(render(s.warnings.front()));
  in.file->value().text =
      "{store: kubernetes, election: db, kubeconfig: " + std::string(path) + "}";
  EXPECT_THAT(good(in).endpoints, ElementsAre("https://10.0.0.1:6443"));
  in.read = {};
  EXPECT_THAT(good(in).endpoints, IsEmpty());
}

/// What is wrong with a kubeconfig of this cluster, user and context.
std::vector<std::string> problems_with(const std::string& cluster, const std::string& user,
                                       const std::string& context = "cluster: main, user: me") {
  return problems_of(with_kubeconfig(kubeconfig(cluster, user, context)));
}

TEST(Kubeconfig, WhatAContextNamesMustBeThere) {
  EXPECT_THAT(problems_with(server, by_token, "cluster: mian, user: me"),
              ElementsAre("/home/u/.kube/config:2:44: there is no cluster \"mian\" in "
                          "/home/u/.kube/config; did you mean \"main\"?"));
  EXPECT_THAT(problems_with(server, by_token, "cluster: main, user: you"),
              ElementsAre(HasSubstr("there is no user \"you\" in /home/u/.kube/config; its users: "
                                    "me")));
  EXPECT_THAT(problems_with(server, by_token, "user: me"),
              ElementsAre("/home/u/.kube/config:2:34: the context has no cluster; name one of the "
                          "clusters of this file in it"));
  EXPECT_THAT(problems_with("", by_token), ElementsAre(HasSubstr("cluster \"main\" is empty")));
  EXPECT_THAT(problems_with("certificate-authority: /ca", by_token),
              ElementsAre(HasSubstr("the cluster has no server; give the URL")));
  expect_golden(problems_of(with_kubeconfig("{current-context: a, contexts: b}")));
  expect_golden(problems_of(with_kubeconfig("{current-context: a}")));
}

TEST(Kubeconfig, AnEndpointInItIsHeldToTheSameRules) {
  EXPECT_THAT(problems_with("server: 10.0.0.1", by_token),
              ElementsAre(StartsWith("/home/u/.kube/config:3:43: endpoint \"10.0.0.1\"")));
  EXPECT_THAT(problems_with("server: [a]", by_token),
              Contains(HasSubstr("server is a list or a mapping; give one text")));
  EXPECT_THAT(problems_with("server: 'http://a', certificate-authority: /ca", "tokenFile: /t"),
              ElementsAre(HasSubstr("ca_file is given, but no endpoint is https")));
  const configuration s = good(with_kubeconfig(kubeconfig("server: 'http://a'", by_token)));
  ASSERT_EQ(s.warnings.size(), 1U);
  expect_golden(render(s.warnings.front()));
}

TEST(Kubeconfig, WhatTenureDoesNotHaveIsRefusedByName) {
  const std::map<std::string, std::string> users{{"exec: {command: aws}", "exec"},
                                                 {"auth-provider: {name: gcp}", "auth-provider"},
                                                 {"username: u, password: sesame", "username"},
                                                 {"password: sesame", "password"},
                                                 {"token: sesame, as: root", "as"},
                                                 {"token: sesame, as-groups: [g]", "as-groups"}};
  for (const auto& [user, which] : users) {
    const auto problems = problems_with(server, user);
    EXPECT_THAT(problems, ElementsAre(HasSubstr(": the user has " + which + ", and Tenure ")));
    EXPECT_THAT(problems, ElementsAre(HasSubstr("put the token of a ServiceAccount into a file, "
                                                "and name that with --token-file")));
    EXPECT_THAT(problems, ElementsAre(Not(HasSubstr("sesame"))));
  }
  EXPECT_THAT(
      problems_with(std::string(server) + ", proxy-url: 'http://u:sesame@p'", by_token),
      ElementsAre("/home/u/.kube/config:3:79: proxy-url is given, and Tenure goes through "
                  "no proxy; remove it, and name a server that can be reached without one"));
  EXPECT_THAT(problems_with(std::string(server) + ", insecure-skip-tls-verify: true", by_token),
              ElementsAre(HasSubstr("insecure-skip-tls-verify is given, and Tenure talks to no "
                                    "server that may be another; give its CA as")));
  EXPECT_THAT(problems_with(std::string(server) + ", insecure-skip-tls-verify: false", by_token),
              IsEmpty());
}

/// Each row is what kubectl 1.35 says of the same file.
struct reading {
  const char* context;     ///< the members of the one context, in lines
  const char* name_space;  ///< what it means; null: it is refused
};

std::string in_lines(const std::string& context, const std::string& cluster = {}) {
  return "base: &base {namespace: blue, cluster: main, user: me}\n"
         "current-context: here\n"
         "clusters:\n- name: main\n  cluster:\n    server: https://a:1\n" +
         cluster + "contexts:\n- name: here\n  context:\n" + context +
         "users:\n- {name: me, user: {token: sesame}}\n";
}

TEST(Kubeconfig, MeansWhatItMeansToKubectl) {
  const std::string both = "    cluster: main\n    user: me\n";
  const reading readings[] = {
      {"    namespace: green\n    namespace: blue\n", "blue"},
      {"    namespace: green\n    namespace:\n", ""},
      {"    <<: *base\n", "blue"},
      {"    <<: *base\n    namespace: green\n", "green"},
      {"    namespace: green\n    <<: *base\n", "blue"},
      {"    <<: [{namespace: one}, *base]\n", "one"},
      {"    <<: {<<: *base}\n", "blue"},
      {"    \"<<\": *base\n", ""},
      {"    <<: blue\n", nullptr},
      {"    <<: [blue]\n", nullptr},
      {"    namespace: yes\n", nullptr},
      {"    namespace: On\n", nullptr},
      {"    namespace: n\n", nullptr},
      {"    namespace: 5\n", nullptr},
      {"    namespace: 1_0\n", nullptr},
      {"    namespace: 0b1\n", nullptr},
      {"    namespace: -0x1F\n", nullptr},
      {"    namespace: !!int 5\n", nullptr},
      {"    namespace: 'yes'\n", "yes"},
      {"    namespace: !!str 5\n", "5"},
      {"    namespace: !team x\n", "x"},
      {"    namespace: !!binary Ymx1ZQ==\n", "blue"},
      {"    namespace: !!binary Ymx1ZQ=\n", nullptr},
      {"    namespace: 2020-01-01\n", "2020-01-01"},
      {"    namespace: \"never closed\n", nullptr},
  };
  for (const reading& one : readings) {
    const std::string own = one.context;
    const inputs in = with_kubeconfig(in_lines(both + own));
    if (one.name_space == nullptr) {
      EXPECT_THAT(problems_of(in), Not(IsEmpty())) << own;
    } else {
      EXPECT_EQ(good(in).name_space, one.name_space) << own;
    }
  }
  const inputs twice = with_kubeconfig(in_lines(both, "    server: https://b:2\n"));
  EXPECT_THAT(good(twice).endpoints, ElementsAre("https://b:2"));
  const inputs two = with_kubeconfig(in_lines(both) + "---\ncurrent-context: other\n");
  EXPECT_EQ(good(two).kube_context, "here") << "the first document";
}

TEST(Kubeconfig, TlsIsUncheckedByAllWordsThatKubectlTakesForTrue) {
  for (const char* word : {"true", "yes", "On", "y"}) {
    EXPECT_THAT(
        problems_with(std::string(server) + ", insecure-skip-tls-verify: " + word, by_token),
        ElementsAre(HasSubstr("insecure-skip-tls-verify is given")))
        << word;
  }
  for (const char* word : {"no", "off", "N", "~"}) {
    EXPECT_THAT(
        problems_with(std::string(server) + ", insecure-skip-tls-verify: " + word, by_token),
        IsEmpty())
        << word;
  }
}

TEST(Kubeconfig, TwoOfOneNameAreRefused) {
  const std::string file = kubeconfig(server, by_token);
  for (const std::string list : {"contexts", "clusters", "users"}) {
    std::string twins = file;
    const std::size_t begin = file.find(list + ": [") + list.size() + 3;
    const std::size_t end = file.find("]\n", begin);
    twins.insert(end, ", " + file.substr(begin, end - begin));
    expect_golden(problems_of(with_kubeconfig(twins)));
  }
}

TEST(Kubeconfig, DataInQuotesMayGoOnWhereKubectlReadsIt) {
  std::string data = in_base64(certificate);
  const auto file = [](const std::string& quoted) {
    return in_lines("    cluster: main\n", "    certificate-authority-data: " + quoted + "\n");
  };
  std::string escaped = data;
  EXPECT_EQ(good(with_kubeconfig(file('"' + escaped.insert(20, "\\\n      ") + '"')))
                .secure.inlined.authorities,
            certificate);
  EXPECT_EQ(good(with_kubeconfig(file("!!binary |\n      " + in_base64(data))))
                .secure.inlined.authorities,
            certificate);
  expect_golden(problems_of(with_kubeconfig(file('"' + data.insert(20, "\n      ") + '"'))));
}

TEST(Kubeconfig, AnEmptyOneIsNotAskedForSettingsOfOurs) {
  EXPECT_THAT(problems_of(with_kubeconfig("")),
              ElementsAre(testing::AllOf(HasSubstr("the file is empty"), Not(HasSubstr("store")))));
}

TEST(Kubeconfig, MergesThatGrowWithoutBoundAreRefused) {
  std::string bomb = "a0: &a0 {x0: 1, x1: 1, x2: 1, x3: 1, x4: 1, x5: 1, x6: 1, x7: 1}\n";
  for (int i = 0; i < 2000; ++i) bomb += "b" + std::to_string(i) + ": {<<: *a0}\n";
  expect_golden(problems_of(with_kubeconfig(bomb)));
}

TEST(Kubeconfig, WhatIsDamagedIsNamedAndNotRepeated) {
  const std::string ca = std::string(server) + ", certificate-authority-data: ";
  EXPECT_THAT(problems_with(ca + "sesame=", by_token),
              ElementsAre(HasSubstr(": certificate-authority-data is not base64; copy it again")));
  EXPECT_THAT(problems_with(ca + in_base64("open sesame"), by_token),
              ElementsAre(HasSubstr("certificate-authority-data is base64 of something else than "
                                    "PEM; it has to be the file with -----BEGIN CERTIFICATE")));
  EXPECT_THAT(problems_with(server, "client-certificate: c, client-key-data: '%sesame%'"),
              ElementsAre(HasSubstr("client-key-data is not base64")));
  EXPECT_THAT(problems_with(server, "client-certificate: c"),
              ElementsAre(HasSubstr("the user has a client-certificate without a client-key")));
  EXPECT_THAT(problems_with(server, "client-key: k"),
              ElementsAre(HasSubstr("the user has a client-key without a client-certificate")));
  EXPECT_THAT(problems_with(server, "token: \"open sesame\\r\\nX: y\""),
              ElementsAre(HasSubstr(": token is something else than one token; copy it again")));
  for (const char* bad : {"token: 'open sesame'", "token: [sesame]", "client-key-data: sesame="}) {
    for (const std::string& said : problems_with(server, bad)) {
      EXPECT_THAT(said, Not(HasSubstr("sesame"))) << bad;
    }
  }
}

}  // namespace
}  // namespace tenure::config::test
