#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "harness.hpp"
#include "scripted_agent.hpp"
#include "support/golden/golden.hpp"

/// How the command line handles what people type: right, mistyped, twice, too few.
namespace tenure::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

finished tenure(const temporary_directory& in, std::vector<std::string> words) {
  words.insert(words.begin(), tenure_binary());
  return run(words, in);
}

TEST(Usage, WhatIsWrongIsSaidInOurWordsWithWhatWasMeant) {
  using words = std::vector<std::string>;
  const temporary_directory in;
  for (const words& m : {
           words{"statsu"},
           words{"trasnfer", "b"},
           words{"frobnicate"},
           words{"--watch"},
           words{"help", "exce"},
           words{"status", "--wacth"},
           words{"status", "--frob"},
           words{"status", "-x"},
           words{"status", "--api"},
           words{"status", "--api", "--watch"},
           words{"explain", "--ttl"},
           words{"status", "--watch=yes"},
           words{"status", "-o", "yaml"},
           words{"probe", "readz"},
           words{"resign", "--aside", "1s", "--aside", "2s"},
           words{"status", "a", "b"},
           words{"explain", "--ttl", "15s", "--ttl", "16s"},
           words{"explain", "--config", "a", "--config", "b"},
           words{"transfer", "--to", "b", "--to", "c"},
           words{"history", "--limit", "0"},
           words{"wait", "--for", "vacant", "--timeout", "5"},
           words{"resign", "--timeout", "5"},
           words{"demo", "--ttl", "5"},
           words{"guard", "--dir", "/d", "--drain", "5", "--", "true"},
           words{"transfer"},
           words{"status", "--", "ls"},
       }) {
    std::string typed = "$ tenure";
    for (const std::string& word : m) typed += " " + word;
    const finished r = tenure(in, m);
    EXPECT_EQ(r.status, 2) << typed;
    EXPECT_EQ(r.out, "");
    expect_golden(typed + "\n" + r.err);
  }
}

TEST(Usage, NothingThatIsRepeatedSteersATerminal) {
  const temporary_directory in;
  for (const char* word : {"\x1b[2J", "--\x1b[2J", "a\u202eb", "\xff"}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{word}, {"status", word, word}, {"wait", "--for", word}}) {
      const finished r = tenure(in, words);
      for (const std::string steers : {"\x1b", "\u202e", "\xff"}) {
        EXPECT_THAT(r.err, Not(HasSubstr(steers)));
      }
    }
  }
}

TEST(Usage, HelpIsAskedForByWordOrByFlag) {
  const temporary_directory in;
  const finished by_flag = tenure(in, {"status", "--help"});
  EXPECT_EQ(by_flag.status, 0);
  EXPECT_THAT(by_flag.out, HasSubstr("Usage: tenure status [OPTIONS] [ELECTION]\n"));
  EXPECT_EQ(tenure(in, {"status", "-h"}).out, by_flag.out);
  EXPECT_EQ(tenure(in, {"help", "status"}).out, by_flag.out);
  const finished all = tenure(in, {"--help"});
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(tenure(in, {"help"}).out, all.out);
  EXPECT_EQ(tenure(in, {}).err, all.out) << "without any word it is an error";
  EXPECT_EQ(tenure(in, {}).status, 2);
}

TEST(Usage, EveryHelpFitsATerminalOf80Columns) {
  const temporary_directory in;
  const std::string all = tenure(in, {"--help"}).out;
  std::string every = all;
  std::istringstream lines(all.substr(all.find("Verbs:\n") + 7));
  int verbs = 0;
  for (std::string line; std::getline(lines, line) && line.starts_with("  "); ++verbs) {
    every += tenure(in, {line.substr(2, line.find(' ', 2) - 2), "--help"}).out;
  }
  EXPECT_GT(verbs, 15);
  std::istringstream text(every);
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << '"' << line << '"';
  }
}

TEST(Usage, HelpOfExecIsGroupedAndSaysWhatEachSettingAccepts) {
  const temporary_directory in;
  const std::string help = tenure(in, {"exec", "--help"}).out;
  std::istringstream words(help);
  std::string in_one_line;
  for (std::string word; words >> word;) in_one_line += word + " ";
  EXPECT_THAT(help, HasSubstr("Usage: tenure exec [OPTIONS] -- COMMAND [ARGUMENTS...]\n"));
  for (const char* group : {"\nStore:\n", "\nTime budget:\n", "\nHTTP:\n", "\nExit statuses:\n"}) {
    EXPECT_THAT(help, HasSubstr(group));
  }
  EXPECT_THAT(in_one_line, HasSubstr("(sqlite, etcd, consul or kubernetes)"));
  EXPECT_THAT(in_one_line, HasSubstr("(standby or exit)"));
  EXPECT_THAT(in_one_line, HasSubstr("(1s to 24h)"));
  EXPECT_THAT(help, Not(HasSubstr("zookeeper")));
}

TEST(Usage, ShortFlagsAreThoseThatPeopleTryFirst) {
  const temporary_directory in;
  scripted_agent agent;
  for (const std::vector<std::string>& form :
       {std::vector<std::string>{"-o", "json"}, {"-ojson"}, {"-o=json"}, {"--output=json"}}) {
    std::vector<std::string> words{"status", "--api", agent.api()};
    words.insert(words.end(), form.begin(), form.end());
    const finished r = tenure(in, words);
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_THAT(r.out, testing::StartsWith("{\"election\":"));
  }
  program watch({tenure_binary(), "status", "-w", "--api", agent.api()}, in / "watch");
  EXPECT_TRUE(eventually([&] { return agent.asked_for("index=1 wait=") == 1; })) << watch.err();
}

TEST(Usage, TheHeirOfATransferIsAWordOrAFlag) {
  const temporary_directory in;
  scripted_agent agent;
  for (const std::vector<std::string>& form :
       {std::vector<std::string>{"b", "db"}, {"--to", "b", "db"}, {"db", "--to", "b"}}) {
    std::vector<std::string> words{"transfer"};
    words.insert(words.end(), form.begin(), form.end());
    words.insert(words.end(), {"--no-wait", "--api", agent.api()});
    EXPECT_EQ(tenure(in, words).status, 0) << tenure(in, words).err;
  }
  EXPECT_EQ(agent.asked_for("POST /v1/elections/db/transfer host=127.0.0.1"), 3U);
  EXPECT_EQ(agent.asked_for("{\"to\":\"b\"}"), 3U);
}

}  // namespace
}  // namespace tenure::tests
