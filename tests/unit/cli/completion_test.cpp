#include "cli/text/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

/// An agent at the default address, and another one.
std::vector<wire::election_report> elections(const std::optional<std::string>& api) {
  if (api == "http://other:1")
    return {{.election = "elsewhere", .identity = "x", .state = "active"}};
  if (api) return {};
  return {{.election = "db",
           .identity = "a",
           .state = "active",
           .members = std::vector<wire::member_report>{{.identity = "b", .state = ""},
                                                       {.identity = "a", .state = ""}}},
          {.election = "team/web",
           .identity = "a",
           .state = "active",
           .members = std::vector<wire::member_report>{{.identity = "a", .state = ""}}}};
}

std::vector<std::string> words(const std::vector<std::string>& line) {
  std::vector<std::string> out;
  for (const suggestion& one : complete(line, elections).words) out.push_back(one.word);
  return out;
}

offer what(const std::vector<std::string>& line) {
  return complete(line, elections).what;
}

TEST(Completion, VerbsAreThoseOfTheTable) {
  EXPECT_THAT(words({"ver"}), ElementsAre("verify", "version"));
  EXPECT_THAT(words({"--v"}), ElementsAre("--version"));
  EXPECT_THAT(words({"nonsense", ""}), IsEmpty());
  EXPECT_THAT(words({}), IsEmpty());
}

TEST(Completion, FlagsAreThoseOfTheVerbAndAreOfferedOnce) {
  EXPECT_THAT(words({"history", "--"}), ElementsAre("--limit", "--api", "--output", "--help"));
  EXPECT_THAT(words({"history", "--limit", "3", "--"}), Not(Contains("--limit")));
  EXPECT_THAT(words({"history", "--limit=3", "--"}), Not(Contains("--limit")));
  EXPECT_THAT(words({"status", "--api", "http://a", "--a"}), ElementsAre("--api"))
      << "it may be given again";
  EXPECT_THAT(words({"exec", "--kill"}), ElementsAre("--kill-budget")) << "settings are flags";
  EXPECT_THAT(words({"exec", ""}), Contains("--"));
}

TEST(Completion, AValueIsOneOfTheWordsThatItsFlagTakes) {
  EXPECT_THAT(words({"agent", "--on-lost", ""}), ElementsAre("standby", "exit"));
  EXPECT_THAT(words({"agent", "--on-lost=s"}), ElementsAre("--on-lost=standby"));
  EXPECT_THAT(words({"status", "--output", "j"}), ElementsAre("json"));
  EXPECT_THAT(words({"probe", "l"}), ElementsAre("livez", "leader"));
  EXPECT_THAT(words({"agent", "--ttl", ""}), IsEmpty()) << "nobody can know";
}

TEST(Completion, ElectionsAndMembersAreThoseOfTheAgentThatTheLineNames) {
  EXPECT_THAT(words({"wait", ""}), ElementsAre("db", "team/web"));
  EXPECT_THAT(words({"wait", "--api", "http://other:1", ""}), ElementsAre("elsewhere"));
  EXPECT_THAT(words({"wait", "--api=http://other:1", ""}), ElementsAre("elsewhere"));
  EXPECT_THAT(words({"transfer", ""}), ElementsAre("a", "b"));
  EXPECT_THAT(words({"transfer", "b", "t"}), ElementsAre("team/web"));
  EXPECT_THAT(words({"resign", "--to", "b"}), ElementsAre("b"));
}

TEST(Completion, AStateThatGoesOnHasNoBlankBehindIt) {
  EXPECT_THAT(words({"wait", "--for", "h"}), ElementsAre("holder=", "held"));
  EXPECT_THAT(words({"wait", "--for", "ho"}), ElementsAre("holder="));
  EXPECT_EQ(what({"wait", "--for", "ho"}), offer::beginning);
  EXPECT_THAT(words({"wait", "--for", "holder="}), ElementsAre("holder=a", "holder=b"));
  EXPECT_EQ(what({"wait", "--for", "holder=b"}), offer::words);
  EXPECT_EQ(what({"wait", "--for", "a"}), offer::words);
}

TEST(Completion, FilesDirectoriesAndCommandsAreLeftToTheShell) {
  EXPECT_EQ(what({"check", ""}), offer::files);
  EXPECT_EQ(what({"agent", "--config", "x"}), offer::files);
  EXPECT_EQ(what({"guard", "--dir", ""}), offer::directories);
  EXPECT_EQ(what({"install", ""}), offer::directories);
  EXPECT_EQ(what({"exec", "--ttl", "3s", "--", ""}), offer::commands);
  EXPECT_EQ(what({"exec", "--", "cat", "--out"}), offer::files) << "its flags are none of ours";
  EXPECT_THAT(words({"exec", "--", "cat", "--out"}), IsEmpty());
  EXPECT_THAT(words({"status", "--", ""}), IsEmpty());
}

}  // namespace
}  // namespace tenure::cli
