#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "base/base64.hpp"
#include "harness.hpp"
#include "servers/kubernetes_server.hpp"

/// A kubeconfig as people have it takes a lease at a real API server.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string content(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string data_of(const std::string& file) {
  return base::to_base64(content(file));
}

class ExecWithKubeconfig : public testing::TestWithParam<servers::server_release> {
 protected:
  void SetUp() override {
    if (!GetParam().why.empty()) GTEST_SKIP() << GetParam().why;
    server_ = &servers::shared_kubernetes_server(GetParam());
    name_space_ = server_->add_name_space("kubeconfig");
    server_->allow(server_->member_user(), {.name_space = name_space_});
  }

  /// With the CA in itself. `user`: one in YAML, on one line.
  std::string kubeconfig(const std::string& user) const {
    std::string path = in_ / "kubeconfig";
    std::ofstream(path) << "apiVersion: v1\n"
                           "kind: Config\n"
                           "current-context: none\n"
                           "contexts:\n"
                           "- name: here\n"
                           "  context: {cluster: main, user: me, namespace: "
                        << name_space_
                        << "}\n"
                           "clusters:\n"
                           "- name: main\n"
                           "  cluster:\n"
                           "    server: "
                        << server_->endpoint()
                        << "\n    certificate-authority-data: " << data_of(server_->ca_file())
                        << "\nusers:\n"
                           "- name: me\n"
                           "  user: "
                        << user << "\n";
    EXPECT_EQ(::chmod(path.c_str(), S_IRUSR | S_IWUSR), 0);
    return path;
  }

  static std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> out{tenure_binary(),  "exec", "--store",        "kubernetes",
                                 "--election",     "test", "--ttl",          "10m",
                                 "--kube-context", "here", "--identity",     "a",
                                 "--listen",       "off",  "--probe-listen", "off"};
    out.insert(out.end(), more.begin(), more.end());
    out.insert(out.end(), {"--", "sleep", "600"});
    return out;
  }

  [[nodiscard]] bool is_held_by_a() const {
    return eventually([this] {
      return server_
          ->call("GET", "/apis/coordination.k8s.io/v1/namespaces/" + name_space_ + "/leases/test")
          .body.contains(R"("holderIdentity":"a_)");
    });
  }

  temporary_directory in_;
  servers::kubernetes_server* server_ = nullptr;
  std::string name_space_;
};

INSTANTIATE_TEST_SUITE_P(Servers, ExecWithKubeconfig,
                         testing::ValuesIn(servers::kubernetes_releases()),
                         [](const auto& one) { return "kubernetes_" + one.param.name; });

TEST_P(ExecWithKubeconfig, ATokenInItTakesTheLeaseAndIsNotSaid) {
  const std::string& token = server_->member_user().token;
  const program a(
      words({"--log-level", "debug", "--kubeconfig", kubeconfig("{token: " + token + "}")}),
      in_ / "a");
  EXPECT_TRUE(is_held_by_a()) << a.err();
  EXPECT_TRUE(eventually([&] { return a.said("active under version"); })) << a.err();
  EXPECT_THAT(a.err(), Not(HasSubstr(token)));
  EXPECT_THAT(a.err(), Not(HasSubstr("every user can read")));
}

TEST_P(ExecWithKubeconfig, ACertificateInTheFileThatTheVariableNamesTakesTheLease) {
  const std::string path =
      kubeconfig("{client-certificate-data: " + data_of(server_->member_certificate()) +
                 ", client-key-data: " + data_of(server_->member_key()) + "}");
  const program a(words({}), in_ / "a", {"KUBECONFIG=/none:" + path});
  EXPECT_TRUE(is_held_by_a()) << a.err();
  EXPECT_TRUE(eventually([&] {
    return a.said("of the 2 files in it, " + path + " alone is read");
  })) << a.err();
}

TEST_P(ExecWithKubeconfig, ASecretThatEverybodyCanReadIsWarnedOf) {
  const std::string path = kubeconfig("{token: " + server_->member_user().token + "}");
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  const program a(words({"--kubeconfig", path}), in_ / "a");
  EXPECT_TRUE(is_held_by_a()) << a.err();
  EXPECT_THAT(a.err(), HasSubstr("every user can read the secret in " + path));
}

TEST_P(ExecWithKubeconfig, WhatCannotBeUsedIsSaidWithItsPlace) {
  const std::string path = kubeconfig("{exec: {command: aws}}");
  const finished done = run(words({"--kubeconfig", path}), in_);
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err,
              AllOf(HasSubstr(path + ":14:16:"), HasSubstr("the user has exec, and Tenure"),
                    HasSubstr("with --token-file")));
}

}  // namespace
}  // namespace tenure::tests
