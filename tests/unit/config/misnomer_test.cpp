#include "config/misnomer.hpp"

#include "support.hpp"

namespace tenure::config::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Secrets, GivenByTheirOwnNameAreRefusedAndNotRepeated) {
  constexpr std::string_view why =
      ": a password or token given here can be read by others; put the password into a file that "
      "only the agent can read, and name that with ";
  for (const char* name : {"password", "token", "PASSWORD", "passwd", "etcd_password", "pass",
                           "authToken", "client-secret", "api_key"}) {
    EXPECT_THAT(problems_of(with_file(std::string(name) + ": hunter2\n")),
                ElementsAre("tenure.yaml:1:1" + std::string(why) + "password_file"));
    const std::string flag = "--" + std::string(name);
    EXPECT_THAT(problems_of(with_flags({{flag, "hunter2"}})),
                ElementsAre(flag + std::string(why) + "--password-file"));
    const std::string variable = "TENURE_" + std::string(name);
    EXPECT_THAT(problems_of(with_environment({{variable, "hunter2"}})),
                ElementsAre(variable + std::string(why) + "TENURE_PASSWORD_FILE"));
  }
}

TEST(Secrets, BehindAFlagMayLookLikeAFlag) {
  EXPECT_THAT(problems_of(with_flags({{"--password", ""}, {"-hunter2", ""}, {"--tll", ""}})),
              ElementsAre(testing::StartsWith("--password: "),
                          R"(--tll: unknown flag; did you mean "--ttl"?)"));
}

TEST(Secrets, InAPlaceForSomethingElseAreNotRepeated) {
  for (const char* text :
       {"user: root:hunter2", "user: 'hunter2 hunter2'", "password_file: \"hunter2\\n\"",
        "key_file: |\n  -----BEGIN hunter2-----\n  x", "key_file: '-----BEGIN hunter2-----'",
        "password_file: 1234567", "password_file: [hunter2]", "user: {name: a, password: hunter2}",
        "password: {file: hunter2}", "password: [hunter2"}) {
    const auto problems = problems_of(with_file(std::string(text) + "\n"));
    EXPECT_THAT(problems, Not(IsEmpty())) << text;
    EXPECT_THAT(testing::PrintToString(problems), Not(HasSubstr("hunter2"))) << text;
    EXPECT_THAT(testing::PrintToString(problems), Not(HasSubstr("1234567"))) << text;
  }
}

TEST(Secrets, ThatAreInAFileOfTheirOwnAreNamedByItsPath) {
  for (const field& f : fields()) EXPECT_FALSE(names_a_secret(f.key)) << f.key;
}

TEST(Misnomers, OfOtherToolsLeadToOurs) {
  struct row {
    const char* given;
    const char* ours;
  };
  for (const row& r : {
           row{"cacert", "ca_file"},
           row{"ca-cert", "ca_file"},
           row{"ca", "ca_file"},
           row{"trusted-ca-file", "ca_file"},
           row{"cafile", "ca_file"},
           row{"cert", "certificate_file"},
           row{"cert-file", "certificate_file"},
           row{"key", "key_file"},
           row{"keyfile", "key_file"},
           row{"tls-server-name", "server_name"},
           row{"username", "user"},
           row{"passfile", "password_file"},
           row{"pasword-file", "password_file"},
           row{"endpoints", "endpoint"},
       }) {
    const auto* const ours =
        std::ranges::find(fields(), std::string_view(r.ours), &field::key).operator->();
    const std::string flag = "--" + std::string(r.given);
    EXPECT_THAT(problems_of(with_flags({{flag, "x"}})),
                ElementsAre(flag + ": unknown flag; did you mean " + quote(ours->flag) + "?"));
    const std::string variable = "TENURE_" + std::string(r.given);
    EXPECT_THAT(problems_of(with_environment({{variable, "x"}})),
                ElementsAre(HasSubstr("did you mean " + quote(ours->environment) + "?")));
    EXPECT_THAT(problems_of(with_file(std::string(r.given) + ": x\n")),
                ElementsAre("tenure.yaml:1:1: unknown setting " + quote(r.given) +
                            "; did you mean " + quote(r.ours) + "?"));
  }
}

TEST(Misnomers, HideNoSettingOfOurs) {
  for (const field& f : fields()) EXPECT_EQ(called_elsewhere(f.key), nullptr) << f.key;
}

}  // namespace
}  // namespace tenure::config::test
