#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness.hpp"
#include "scripted_agent.hpp"

/// What a command prints if an agent's answers are hostile.
namespace tenure::tests {
namespace {

using testing::HasSubstr;

/// An answer to every request, with `name` in place of each name.
std::string answer_with(const std::string& name) {
  std::string out = R"({"election":"db","identity":"NAME","state":"candidate","holder":"NAME",
    "holders":[{"identity":"NAME","version":7}],"version":7,"version_text":"7","next":"NAME",
    "members":[{"identity":"NAME","state":"standby","ready_since":"NAME"}],"valid":true,"asked":{"version_text":"7"},
    "source":"NAME","age_ms":1,"complete_since":"NAME","as_of":"NAME","terms":[{"holder":"NAME",
    "version":7,"from":"NAME","to":"NAME","reason":"NAME"}],"last_term":{"holder":"NAME",
    "version":6,"reason":"NAME"},"error":{"code":"NAME","message":"NAME","action":"NAME"}})";
  for (std::size_t at = out.find("NAME"); at != std::string::npos; at = out.find("NAME", at)) {
    out.replace(at, 4, name);
  }
  return out;
}

/// Text that controls a terminal, as JSON: with escapes, and with characters that JSON allows.
constexpr const char* by_escapes = "x\\u001b[2Jy\\u009b2J\\u202e\\n";
constexpr const char* by_characters = "x\u009b2Jy\u202e\u007fz";
constexpr const char* not_utf8 = "x\xff\xfe";

const std::vector<std::vector<std::string>>& questions() {
  static const std::vector<std::vector<std::string>> all{
      {"status"},
      {"status", "db"},
      {"history", "db"},
      {"verify", "db", "--version", "7"},
      {"wait", "db", "--for", "standby", "--timeout", "0s"},
      {"wait", "db", "--for", "active", "--timeout", "0s"},
      {"resign", "db", "--timeout", "0s"},
      {"resign", "db", "--no-wait"}};
  return all;
}

finished ask(const scripted_agent& agent, const temporary_directory& in,
             std::vector<std::string> words, const std::string& form) {
  words.insert(words.begin(), tenure_binary());
  words.insert(words.end(), {"--api", agent.api(), "--output", form});
  return run(words, in);
}

void expect_harmless(const std::string& printed, const std::string& command) {
  for (const std::string steers : {"\x1b", "\x7f", "\u009b", "\u202e", "\xff"}) {
    EXPECT_FALSE(printed.contains(steers))
        << command << " prints " << testing::PrintToString(printed);
  }
}

TEST(HostileAgent, CannotSteerTheTerminal) {
  const temporary_directory in;
  scripted_agent agent;
  for (const std::string name : {by_escapes, by_characters, not_utf8}) {
    for (const std::string status : {"202", "400", "503"}) {
      agent.accepts(status + " " + answer_with(name));
      agent.says(answer_with(name));
      for (const auto& words : questions()) {
        for (const std::string form :
             {"json", words.front() == "status" || words.front() == "history" ? "table" : "text"}) {
          const finished r = ask(agent, in, words, form);
          EXPECT_GE(r.status, 0) << "a crash";
          EXPECT_FALSE((r.out + r.err).empty());
          expect_harmless(r.out + r.err, words.front() + " " + form);
        }
      }
    }
  }
}

TEST(HostileAgent, JsonThatIsNestedWithoutEndIsNotAnAnswer) {
  const temporary_directory in;
  scripted_agent agent;
  constexpr std::size_t levels = 1'000'000;
  const std::string deep = R"({"election":"db","state":"active","x":)" + std::string(levels, '[') +
                           std::string(levels, ']') + "}";
  agent.says(deep);
  for (const auto& words : questions()) {
    for (const std::string form :
         {"json", words.front() == "status" || words.front() == "history" ? "table" : "text"}) {
      const finished r = ask(agent, in, words, form);
      EXPECT_EQ(r.status, 4) << words.front() << " " << form << ": " << r.err.substr(0, 500);
      EXPECT_LT(r.out.size() + r.err.size(), 1000U) << "it is not repeated either";
    }
  }
}

TEST(HostileAgent, JsonIsPrintedWithItsMeaning) {
  const temporary_directory in;
  scripted_agent agent;
  agent.says(R"({"election":"db","state":"candidate","holder":"d)"
             "\u00e9\u202e\"}");
  const finished r = ask(agent, in, {"status", "db"}, "json");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("\"holder\":\"d\u00e9\\u202e\""));
}

}  // namespace
}  // namespace tenure::tests
