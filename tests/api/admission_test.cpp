#include "api/admission.hpp"

#include <gtest/gtest.h>

#include "scene.hpp"

namespace tenure::tests {
namespace {

TEST(Admission, LoopbackNamesAndIpLiteralsAreThisMachine) {
  for (const char* host :
       {"localhost", "localhost:4040", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1",
        "127.0.0.1:4040", "[::1]", "[::1]:4040", "10.1.2.3:4040", "[fd00::7]:80"}) {
    EXPECT_TRUE(api::names_this_machine(host, {})) << host;
  }
}

TEST(Admission, OtherNamesAreNotSinceAnybodyCanMakeThemResolveToLoopback) {
  for (const char* host :
       {"", "evil.example", "evil.example:4040", "localhost.evil.example", "127.0.0.1.evil.example",
        "evillocalhost", "[::1", "[evil.example]", "::1.evil.example:4040", "[::1].evil.com",
        "[::1]evil.com", "[::1]:80.evil.com", "[::1]:", "[127.0.0.1]", "127.0.0.1:evil.com",
        "127.0.0.1:80:90", "localhost:", "localhost:80.evil.com", "127.0.0.1:80@evil.com"}) {
    EXPECT_FALSE(api::names_this_machine(host, {})) << host;
  }
}

TEST(Admission, NamesCanBeAllowed) {
  EXPECT_TRUE(api::names_this_machine("Agent.Svc:4040", {"agent.svc"}));
  EXPECT_FALSE(api::names_this_machine("other.svc:4040", {"agent.svc"}));
}

TEST(Admission, RebindingPageIsRefusedOnEveryPath) {
  const scene s;
  for (const char* target : {"/", "/v1/elections", "/livez", "/nothing"}) {
    http::request asked = scene::get(target);
    asked.host = "evil.example:4040";
    EXPECT_EQ(s.ask(asked).status, 403u) << target;
  }
}

TEST(Admission, ClientWithoutHostIsNoBrowser) {
  const scene s;
  http::request asked = scene::get("/v1/elections");
  asked.host.reset();
  EXPECT_EQ(s.ask(asked).status, 200u);
}

TEST(Admission, PageOfAnotherOriginIsRefused) {
  const scene s;
  http::request asked = scene::get("/v1/elections");
  asked.host = "localhost:4040";
  asked.origin = "http://localhost:4040";
  EXPECT_EQ(s.ask(asked).status, 200u);
  for (const char* origin : {"http://localhost:8080", "http://evil.example", "null", ""}) {
    asked.origin = origin;
    EXPECT_EQ(s.ask(asked).status, 403u) << origin;
  }
}

}  // namespace
}  // namespace tenure::tests
