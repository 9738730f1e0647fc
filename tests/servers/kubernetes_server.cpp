#include "servers/kubernetes_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/random.hpp"
#include "core/check.hpp"
#include "support/eventually.hpp"

namespace tenure::servers {
namespace {

using nlohmann::json;

constexpr std::size_t secure_port = 0;
constexpr std::size_t ports_each = 1;
constexpr std::chrono::seconds answer_of_a_healthy_one{2};
constexpr std::size_t token_bytes = 16;

const std::array<std::string, 8> all_verbs{"get",    "list",  "watch",  "create",
                                           "update", "patch", "delete", "deletecollection"};

server_release etcd_named(const std::string& name) {
  const std::vector<server_release> all = etcd_releases();
  const auto found = std::ranges::find(all, name, &server_release::name);
  TENURE_CHECK(found != all.end());
  return *found;
}

std::string rbac_path(const std::string& name_space, const std::string& kind) {
  return "/apis/rbac.authorization.k8s.io/v1/namespaces/" + name_space + "/" + kind;
}

json rbac_object(const std::string& kind, const std::string& name) {
  return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}}};
}

}  // namespace

std::vector<server_release> kubernetes_releases() {
  server_release today =
      find_release("today", "kube-apiserver", "kubernetes-today", "TENURE_KUBERNETES_TODAY",
                   "`./dev test` without --quick builds it");
  const server_release store = etcd_named(kubernetes_options().etcd);
  if (!today.binary.empty() && store.binary.empty()) {
    today = {.name = today.name, .binary = {}, .why = store.why};
  }
  return {today};
}

kubernetes_server::kubernetes_server(const server_release& release, kubernetes_options options)
    : server_cluster(release.binary, options.members, ports_each),
      release_(release),
      options_(std::move(options)),
      etcd_(etcd_named(options_.etcd)),
      operator_(keep("operator", base::random_hex(token_bytes))),
      member_(keep("member", base::random_hex(token_bytes))) {
  make_keys();
  std::ofstream(file("tokens.csv")) << operator_.token << ",operator,1,system:masters\n"
                                    << member_.token << ",member,2\n";
  boot();
  allow(member_, {});
}

void kubernetes_server::make_keys() {
  const server_process script({"/bin/sh", TENURE_SERVERS_SOURCES "/kubernetes_keys.sh", file(".")},
                              file("keys.log"));
  if (!script.runs(patience) && std::filesystem::exists(file("accounts.pub"))) return;
  std::ostringstream said;
  said << std::ifstream(file("keys.log")).rdbuf();
  ADD_FAILURE() << "kubernetes_keys.sh failed: " << said.str();
}

kubernetes_user kubernetes_server::keep(std::string name, std::string token) const {
  std::string path = file(name.substr(name.rfind(':') + 1) + ".token");
  std::ofstream(path) << token;
  EXPECT_EQ(::chmod(path.c_str(), S_IRUSR | S_IWUSR), 0);
  return {.name = std::move(name), .token = std::move(token), .token_file = std::move(path)};
}

std::vector<std::string> kubernetes_server::command(std::size_t member) const {
  std::vector<std::string> words{
      release_.binary, "--etcd-servers=" + etcd_.endpoint(), "--bind-address=127.0.0.1",
      "--secure-port=" + std::to_string(port(member)),
      // Of the service "kubernetes", which nobody uses here; it may not be a loopback address.
      "--advertise-address=10.200.1.1", "--endpoint-reconciler-type=none",
      "--service-cluster-ip-range=10.200.0.0/24", "--cert-dir=" + data_of(member).string(),
      "--tls-cert-file=" + file("server.pem"), "--tls-private-key-file=" + file("server.key"),
      "--service-account-issuer=https://kubernetes.default.svc",
      "--service-account-signing-key-file=" + file("accounts.key"),
      "--service-account-key-file=" + file("accounts.pub"), "--client-ca-file=" + file("ca.pem"),
      "--token-auth-file=" + file("tokens.csv"), "--authorization-mode=RBAC", "--profiling=false"};
  words.insert(words.end(), options_.flags.begin(), options_.flags.end());
  return words;
}

std::uint16_t kubernetes_server::port(std::size_t member) const {
  return port_of(member, secure_port);
}

std::string kubernetes_server::endpoint(std::size_t member) const {
  return "https://127.0.0.1:" + std::to_string(port(member));
}

std::string kubernetes_server::ca_file() const {
  return file("ca.pem");
}

std::string kubernetes_server::member_certificate() const {
  return file("member.pem");
}

std::string kubernetes_server::member_key() const {
  return file("member.key");
}

bool kubernetes_server::healthy(std::size_t member) const {
  if (!started(member)) return false;
  const auto answers = [&](std::string_view path) {
    return ask_securely(caller(token(), member), "GET", path, "", "", answer_of_a_healthy_one)
               .status == 200;
  };
  return answers("/readyz") && answers("/api/v1/namespaces/default");
}

std::string kubernetes_server::add_name_space(const std::string& begin) {
  std::string name = begin + "-" + std::to_string(++name_spaces_);
  const json wanted{{"metadata", {{"name", name}}}};
  const secure_answer made = call("POST", "/api/v1/namespaces", wanted.dump());
  EXPECT_EQ(made.status, 201) << made.body << made.why;
  return name;
}

kubernetes_user kubernetes_server::add_user(const std::string& name,
                                            const kubernetes_rights& rights,
                                            const std::string& name_space) {
  const std::string path = "/api/v1/namespaces/" + name_space + "/serviceaccounts";
  const json account{
      {"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", name}}}};
  const secure_answer made = call("POST", path, account.dump());
  EXPECT_EQ(made.status, 201) << made.body << made.why;
  const json wanted{{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}};
  const secure_answer given = call("POST", path + "/" + name + "/token", wanted.dump());
  EXPECT_EQ(given.status, 201) << given.body << given.why;
  const json token = json::parse(given.body, nullptr, false);
  const json::json_pointer where("/status/token");
  kubernetes_user user = keep("system:serviceaccount:" + name_space + ":" + name,
                              token.contains(where) ? token.at(where).get<std::string>() : "");
  allow(user, rights);
  return user;
}

void kubernetes_server::allow(const kubernetes_user& who, const kubernetes_rights& rights) {
  // "pods/status": no name of an object has a slash.
  std::string name = who.name + ":" + rights.resource;
  std::ranges::replace(name, '/', '.');
  const auto write = [&](const std::string& kinds, const json& object) {
    const std::string path = rbac_path(rights.name_space, kinds);
    secure_answer done = call("POST", path, object.dump());
    if (done.status == 409) done = call("PUT", path + "/" + name, object.dump());
    EXPECT_THAT(done.status, ::testing::AnyOf(200, 201)) << done.body << done.why;
  };
  json rule{
      {"apiGroups", {rights.group}}, {"resources", {rights.resource}}, {"verbs", rights.verbs}};
  if (!rights.names.empty()) rule["resourceNames"] = rights.names;
  json role = rbac_object("Role", name);
  role["rules"] = rights.verbs.empty() ? json::array() : json::array({rule});
  write("roles", role);
  json binding = rbac_object("RoleBinding", name);
  const std::string group = "rbac.authorization.k8s.io";
  binding["roleRef"] = {{"apiGroup", group}, {"kind", "Role"}, {"name", name}};
  binding["subjects"] = {{{"apiGroup", group}, {"kind", "User"}, {"name", who.name}}};
  write("rolebindings", binding);
  for (std::size_t i = 0; i < size(); ++i) {
    if (!started(i)) continue;
    EXPECT_TRUE(tests::eventually([&] { return goes_by(who, rights, i); }, between_looks))
        << name_of(i) << " does not go by the rights of " << who.name;
  }
}

bool kubernetes_server::goes_by(const kubernetes_user& who, const kubernetes_rights& rights,
                                std::size_t member) const {
  return std::ranges::all_of(all_verbs, [&](const std::string& verb) {
    json asked{{"namespace", rights.name_space},
               {"group", rights.group},
               {"resource", rights.resource},
               {"verb", verb}};
    if (!rights.names.empty()) asked["name"] = rights.names.front();
    const json review{{"apiVersion", "authorization.k8s.io/v1"},
                      {"kind", "SubjectAccessReview"},
                      {"spec", {{"user", who.name}, {"resourceAttributes", asked}}}};
    const secure_answer said = call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                    review.dump(), {.member = member});
    const json answer = json::parse(said.body, nullptr, false);
    const json::json_pointer allowed("/status/allowed");
    return answer.contains(allowed) &&
           answer.at(allowed) == (std::ranges::count(rights.verbs, verb) > 0);
  });
}

secure_caller kubernetes_server::caller(const std::string& token, std::size_t member) const {
  return {.port = port(member), .ca_file = ca_file(), .token = token};
}

secure_answer kubernetes_server::call(std::string_view method, std::string_view path,
                                      std::string_view body, const kubernetes_request& more) const {
  return call_as(token(), method, path, body, more);
}

secure_answer kubernetes_server::call_as(const std::string& token, std::string_view method,
                                         std::string_view path, std::string_view body,
                                         const kubernetes_request& more) const {
  return ask_securely(caller(token, more.member), method, path, body, more.content_type,
                      2 * patience);
}

namespace {

class shared_servers final : public ::testing::Environment {
 public:
  void TearDown() override {
    for (const auto& [etcd, one] : by_etcd_) {
      if (::testing::UnitTest::GetInstance()->Failed()) std::cerr << one.log_tail(0);
    }
    by_etcd_.clear();
  }

  kubernetes_server& get(const server_release& release, const std::string& etcd) {
    return by_etcd_.try_emplace(etcd, release, kubernetes_options{.etcd = etcd}).first->second;
  }

 private:
  std::map<std::string, kubernetes_server> by_etcd_;
};

// GoogleTest owns it.
auto* const shared = static_cast<shared_servers*>(
    ::testing::AddGlobalTestEnvironment(std::make_unique<shared_servers>().release()));

}  // namespace

kubernetes_server& shared_kubernetes_server(const server_release& release,
                                            const std::string& etcd) {
  return shared->get(release, etcd);
}

}  // namespace tenure::servers
