#include "runtime/log.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace tenure::runtime {
namespace {

TEST(LogBody, LogfmtLeavesPlainValuesBareAndQuotesTheRest) {
  EXPECT_EQ(log_body(log_format::logfmt, "active", {{"election", "db"}, {"version", 7U}}),
            "msg=active election=db version=7");
  EXPECT_EQ(log_body(log_format::logfmt, "two words", {{"why", ""}, {"path", "/a b/c"}}),
            "msg=\"two words\" why=\"\" path=\"/a b/c\"");
}

TEST(LogBody, NoValueCanForgeALineOrAField) {
  const std::string line =
      log_body(log_format::logfmt, "x", {{"holder", "a\nlevel=error msg=\"forged\" \x1b[2J\xff"}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_EQ(line, "msg=x holder=\"a\\nlevel=error msg=\\\"forged\\\" \\u001b[2J\\ufffd\"");
}

TEST(LogBody, EscapesCharactersAndNotTheBytesOfThem) {
  for (const log_format form : {log_format::logfmt, log_format::json}) {
    const std::string line = log_body(form, "x", {{"holder", "d\u00e9 \u65e5\u672c"}});
    EXPECT_NE(line.find("\"d\u00e9 \u65e5\u672c\""), std::string::npos) << line;
  }
}

TEST(LogBody, NoValueCanTurnTheDirectionOfALine) {
  for (const log_format form : {log_format::logfmt, log_format::json}) {
    const std::string line = log_body(form, "x", {{"holder", "a\u202eb\u009bc"}});
    EXPECT_NE(line.find("\"a\\u202eb\\u009bc\""), std::string::npos) << line;
  }
}

TEST(LogBody, JsonIsJsonWhateverTheValuesAre) {
  std::string every_byte;
  for (int c = 0; c < 256; ++c) every_byte += static_cast<char>(c);
  const std::string line =
      "{" + log_body(log_format::json, every_byte, {{"holder", every_byte}, {"version", 7U}}) + "}";
  const auto parsed = nlohmann::json::parse(line, nullptr, false);
  ASSERT_FALSE(parsed.is_discarded()) << line;
  EXPECT_EQ(parsed["version"], 7);
  EXPECT_TRUE(parsed["holder"].is_string());
}

}  // namespace
}  // namespace tenure::runtime
