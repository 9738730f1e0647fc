#include "log/logger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace tenure::log {
namespace {

constexpr std::int64_t at = 1'769'860'800'250;  // 2026-01-31T12:00:00.250Z

std::string line(log_form form, std::string_view message,
                 std::initializer_list<log_field> fields = {}, log_level level = log_level::warn) {
  return log_line(form, level, at, message, fields);
}

TEST(LogLine, LogfmtLeavesPlainValuesBareAndQuotesTheRest) {
  EXPECT_EQ(line(log_form::logfmt, "active", {{"election", "db"}, {"version", 7U}}),
            "time=2026-01-31T12:00:00.250Z level=warn msg=active election=db version=7");
  EXPECT_EQ(line(log_form::logfmt, "two words", {{"why", ""}, {"path", "/a b/c"}}),
            "time=2026-01-31T12:00:00.250Z level=warn msg=\"two words\" why=\"\" path=\"/a b/c\"");
}

TEST(LogLine, JsonIsOneObject) {
  EXPECT_EQ(line(log_form::json, "two words", {{"election", "db"}, {"version", 7U}}),
            R"({"time":"2026-01-31T12:00:00.250Z","level":"warn","msg":"two words",)"
            R"("election":"db","version":7})");
}

TEST(LogLine, PeopleReadTimeLevelSentenceAndWhatTheSentenceDoesNotSay) {
  EXPECT_EQ(line(log_form::text, "active under \"7\"", {{"election", "db"}, coded("version", "7")}),
            "12:00:00.250Z warn  active under \"7\"  election=db");
  EXPECT_EQ(line(log_form::text, "x", {}, log_level::error), "12:00:00.250Z error x");
  EXPECT_EQ(line(log_form::text, "x", {}, log_level::info), "12:00:00.250Z info  x");
}

TEST(LogLine, ColoursAreForWhatIsToBeNoticedAndEndWithTheLine) {
  const std::string warning = line(log_form::coloured, "x", {{"election", "db"}});
  EXPECT_EQ(warning, "\x1b[0;2m12:00:00.250Z\x1b[0m \x1b[33mwarn  x\x1b[0;2m  election=db\x1b[0m");
}

constexpr std::array forms{log_form::logfmt, log_form::json, log_form::text};

TEST(LogLine, NoValueAndNoMessageCanForgeALineOrAField) {
  for (const log_form form : forms) {
    const std::string_view outside = "a\nlevel=error msg=\"forged\" \x1b[2J\xff";
    const std::string all = line(form, outside, {{"holder", outside}});
    EXPECT_EQ(all.find('\n'), std::string::npos) << all;
    EXPECT_EQ(all.find('\x1b'), std::string::npos) << all;
  }
  EXPECT_THAT(line(log_form::logfmt, "x", {{"holder", "a\nlevel=error msg=\"forged\""}}),
              testing::EndsWith("msg=x holder=\"a\\nlevel=error msg=\\\"forged\\\"\""));
}

TEST(LogLine, EscapesCharactersAndNotTheBytesOfThem) {
  for (const log_form form : forms) {
    const std::string all = line(form, "x", {{"holder", "d\u00e9 \u65e5\u672c"}});
    EXPECT_NE(all.find("\"d\u00e9 \u65e5\u672c\""), std::string::npos) << all;
  }
}

TEST(LogLine, NoValueCanTurnTheDirectionOfALine) {
  for (const log_form form : forms) {
    const std::string all = line(form, "x", {{"holder", "a\u202eb\u009bc"}});
    EXPECT_NE(all.find("\"a\\u202eb\\u009bc\""), std::string::npos) << all;
  }
}

TEST(LogLine, JsonIsJsonWhateverTheValuesAre) {
  std::string every_byte;
  for (int c = 0; c < 256; ++c) every_byte += static_cast<char>(c);
  const std::string all =
      line(log_form::json, every_byte, {{"holder", every_byte}, {"version", 7U}});
  const auto parsed = nlohmann::json::parse(all, nullptr, false);
  ASSERT_FALSE(parsed.is_discarded()) << all;
  EXPECT_EQ(parsed["version"], 7);
  EXPECT_TRUE(parsed["holder"].is_string());
}

TEST(Log, WritesWhatIsImportantEnough) {
  testing::internal::CaptureStderr();
  {
    logger to(log_form::logfmt, log_level::warn);
    to.write(log_level::info, "quiet");
    to.write(log_level::warn, "loud");
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("time=[^ ]* level=warn msg=loud\n"));
}

}  // namespace
}  // namespace tenure::log
