#include "api/responses.hpp"

#include <gtest/gtest.h>

#include "scene.hpp"

namespace tenure::tests {
namespace {

TEST(Codec, NamesWithQuotesAndControlCharactersAreEscaped) {
  scene s;
  s.seen.elections.clear();
  const std::string odd = "a\"b\\c\n\x01</script>";
  s.add(odd);
  EXPECT_EQ(s.json("/v1/elections")["elections"][0]["election"], odd);
}

TEST(Codec, BytesThatAreNotUtf8StillGiveAnAnswerThatParses) {
  scene s;
  s.watch_shows({{.identity = "bad\xff\xfe", .version = core::version{5}}}, core::version{5});
  EXPECT_EQ(s.db_json()["holder"], "bad\xEF\xBF\xBD\xEF\xBF\xBD");
  const http::response r = s.ask("/v1/elections/%ff%00");
  EXPECT_EQ(r.status, 404u);
  EXPECT_FALSE(nlohmann::json::parse(r.body, nullptr, false).is_discarded());
}

TEST(Codec, WhatARefusedRequestSaidCanBePrinted) {
  scene s;
  const http::response r = s.ask("/v1/elections/a%c2%9b%e2%80%ae%1b%ffb");
  EXPECT_EQ(r.status, 404u);
  const auto message = nlohmann::json::parse(r.body)["error"]["message"].get<std::string>();
  EXPECT_NE(message.find("\"a\ufffd\ufffd\ufffd\ufffdb\""), std::string::npos) << message;
}

TEST(Codec, ErrorHasCodeMessageAndAction) {
  const http::response r =
      api::error_response(409, {.code = "c", .message = "m \"quoted\"", .action = "a"});
  EXPECT_EQ(r.status, 409u);
  EXPECT_EQ(r.content_type, "application/json");
  EXPECT_EQ(r.body,
            "{\"error\":{\"code\":\"c\",\"message\":\"m \\\"quoted\\\"\",\"action\":\"a\"}}\n");
}

}  // namespace
}  // namespace tenure::tests
