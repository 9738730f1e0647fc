// A proxy, or a page for debugging, answers with the request that it got. What a store says of that
// is shown to anybody, so it contains no password and no token.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fake_http.hpp"
#include "scene.hpp"

namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A store that has a secret, and one way in which what was sent comes back.
struct echo {
  std::string name;
  std::string kind;
  std::string secret;
  fake_http::answer how;
  bool is_of_etcd = false;  ///< etcd has given it for a password
};

void PrintTo(const echo& one, std::ostream* out) {
  *out << one.name;
}

/// The part of a request that has the secret, behind so many other bytes: what is said ends in it.
fake_http::answer repeat(const std::string& line, std::size_t before) {
  return [line, before](peer& to, const std::string& request) {
    std::size_t from = request.find("Authorization: ");
    if (from == std::string::npos) from = request.find("X-Consul-Token: ");
    if (from == std::string::npos) from = request.find("{\"name");
    const std::string part = from == std::string::npos ? request : request.substr(from);
    status(line, std::string(before, '.') + part)(to, request);
  };
}

/// A message of etcd's form, with a request inside.
void repeat_in_json(peer& to, const std::string& request) {
  std::string quoted;
  for (const char c : body_in(request)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  status("500 So", R"({"code":2,"message":"sent: )" + quoted + "\"}")(to, request);
}

std::vector<echo> all_echoes() {
  const std::string token = "eyJhbGciOiJSUzI1NiJ9-a-secret-token-of-some-length";
  const std::string password = R"(pass"word\of root)";
  struct sender {
    std::string name;
    std::string kind;
    std::string secret;
    bool is_of_etcd;
  };
  std::vector<echo> out;
  for (const sender& one :
       {sender{"consul", "consul", token, false}, sender{"kubernetes", "kubernetes", token, false},
        sender{"password_of_etcd", "etcd", password, false},
        sender{"token_of_etcd", "etcd", token, true}}) {
    const auto add = [&](const std::string& line, std::size_t before) {
      out.push_back({.name = one.name + "_" + line.substr(0, 3) + "_" + std::to_string(before),
                     .kind = one.kind,
                     .secret = one.secret,
                     .how = repeat(line, before),
                     .is_of_etcd = one.is_of_etcd});
    };
    // What is not understood is said as far as 64 bytes, an error as far as 200.
    for (const std::size_t before : {0UL, 6UL, 12UL, 20UL}) add("200 OK", before);
    for (const std::size_t before : {0UL, 140UL, 150UL, 160UL}) {
      add("500 So", before);
      add("403 No", before);
    }
  }
  out.push_back(
      {.name = "etcd_in_json", .kind = "etcd", .secret = password, .how = repeat_in_json});
  return out;
}

class EchoedSecret : public testing::TestWithParam<echo> {
 protected:
  stores::setup settings() {
    stores::setup out = settings_for(GetParam().kind, proxy_.endpoint(), "a");
    const std::string file = folder_ / "secret";
    std::ofstream(file) << (GetParam().is_of_etcd ? "a password" : GetParam().secret);
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    if (GetParam().kind == "etcd") {
      out.secure.user = "root";
      out.secure.password_file = file;
    } else {
      out.secure.token_file = file;
    }
    out.hears = [this](const core::contact_event& what) {
      if (const auto* failed = std::get_if<core::contact::failed>(&what))
        said_ += failed->why + "\n";
    };
    out.notes = [this](const stores::notice& what) { said_ += what.text + "\n"; };
    return out;
  }

  temporary_directory folder_;
  fake_http proxy_{GetParam().how, path_of};
  std::string said_;
  loop loop_;
};

INSTANTIATE_TEST_SUITE_P(Proxies, EchoedSecret, testing::ValuesIn(all_echoes()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EchoedSecret, IsNotSaid) {
  if (GetParam().is_of_etcd) {
    proxy_.on("/v3/auth/authenticate",
              R"({"header":{"cluster_id":"7","member_id":"8","revision":"5","raft_term":"2"},)"
              R"("token":")" +
                  GetParam().secret + "\"}");
  }
  member a(loop_, settings());
  a.answer_within(std::chrono::seconds(2));
  const auto opened = a.open();
  said_ += opened ? "" : opened.error().text + "\n";
  if (opened) {
    const auto watched = a.watch();
    for (const std::string& one : opened->warnings) said_ += one + "\n";
    said_ += words(a.acquire()) + "\n";
    for (const std::string& one : a->describe().warnings) said_ += one + "\n";
    said_ += words(a.release()) + "\n";
    for (const std::string& one : watched->broken) said_ += one + "\n";
  }
  EXPECT_THAT(said_, HasSubstr("***")) << "it was never said that it came back";
  EXPECT_THAT(said_, Not(HasSubstr(GetParam().secret)));
  EXPECT_THAT(said_, Not(HasSubstr(GetParam().secret.substr(0, 6))));
}

}  // namespace
}  // namespace tenure::tests
