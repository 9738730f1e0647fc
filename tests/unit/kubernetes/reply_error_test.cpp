#include "stores/kubernetes/reply_error.hpp"

#include <gmock/gmock.h>

namespace tenure::stores::kubernetes {
namespace {

using testing::HasSubstr;

std::string status_text(int code, const std::string& reason, const std::string& details = "{}") {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
         R"("message":"it is so","reason":")" +
         reason + R"(","details":)" + details + R"(,"code":)" + std::to_string(code) + "}";
}

TEST(KubernetesError, AStatusIsJudgedByItsCodeAndReason) {
  using enum error_meaning;
  struct row {
    unsigned status;
    const char* reason;
    error_meaning meaning;
  };
  for (const row& r : {
           row{400, "BadRequest", invalid},
           row{401, "Unauthorized", unauthorized},
           row{403, "Forbidden", denied},
           row{404, "NotFound", missing},
           row{404, "", unknown},
           row{405, "MethodNotAllowed", unsupported},
           row{406, "NotAcceptable", unsupported},
           row{409, "Conflict", conflict},
           row{409, "AlreadyExists", conflict},
           row{409, "", unknown},
           row{410, "Expired", expired},
           row{410, "Gone", expired},
           row{413, "RequestEntityTooLarge", invalid},
           row{415, "UnsupportedMediaType", unsupported},
           row{422, "Invalid", conflict},
           row{429, "TooManyRequests", busy},
           row{500, "InternalError", unknown},
           row{503, "ServiceUnavailable", unknown},
           row{504, "Timeout", unknown},
       }) {
    const reply_error said =
        read_error(r.status, status_text(static_cast<int>(r.status), r.reason));
    EXPECT_EQ(said.meaning, r.meaning) << r.status << " " << r.reason;
    EXPECT_EQ(said.status, r.status);
    EXPECT_EQ(said.message, "it is so");
  }
}

TEST(KubernetesError, ATestOfAPatchThatFailsNamesNoField) {
  EXPECT_EQ(read_error(422, status_text(422, "Invalid")).meaning, error_meaning::conflict);
  EXPECT_EQ(
      read_error(422, status_text(422, "Invalid", R"({"causes":[{"field":"spec"}]})")).meaning,
      error_meaning::invalid);
}

TEST(KubernetesError, ANamespaceThatIsMissingIsNotAMissingLease) {
  const reply_error said =
      read_error(404, status_text(404, "NotFound", R"({"name":"team","kind":"namespaces"})"));
  EXPECT_EQ(said.meaning, error_meaning::nowhere);
  EXPECT_THAT(text(said), HasSubstr("create the namespace"));
  EXPECT_EQ(read_error(404, status_text(404, "NotFound", R"({"kind":"leases"})")).meaning,
            error_meaning::missing);
}

/// Anything can be in front of an API server, and answer for it.
TEST(KubernetesError, WhatIsNotInTheWordsOfKubernetesIsNoAnswerOfIts) {
  for (const unsigned status : {404U, 409U, 410U, 422U, 500U, 502U, 503U}) {
    for (const std::string& body :
         {std::string(), std::string("404 page not found"), std::string("<html></html>"),
          std::string(R"({"code":404,"reason":"NotFound"})"), status_text(418, "NotFound"),
          std::string(R"({"kind":"Lease","code":409})")}) {
      EXPECT_EQ(read_error(status, body).meaning, error_meaning::unknown) << status << body;
    }
  }
}

TEST(KubernetesError, WhatAProxyRefusesIsShownAllTheSame) {
  EXPECT_EQ(read_error(401, "who are you").meaning, error_meaning::unauthorized);
  EXPECT_EQ(read_error(403, "").meaning, error_meaning::denied);
  EXPECT_EQ(read_error(429, "").meaning, error_meaning::busy);
  EXPECT_EQ(read_error(405, "").meaning, error_meaning::unsupported);
  EXPECT_EQ(read_error(501, "").meaning, error_meaning::unsupported);
  EXPECT_EQ(read_error(400, "bad").meaning, error_meaning::invalid);
}

TEST(KubernetesError, PlainHttpToATlsPortIsExplained) {
  const reply_error said = read_error(400, "Client sent an HTTP request to an HTTPS server.\n");
  EXPECT_EQ(said.meaning, error_meaning::unsupported);
  EXPECT_THAT(text(said), HasSubstr("HTTPS server.; write the endpoint as https://"));
}

TEST(KubernetesError, TheTextSaysWhatToDo) {
  EXPECT_THAT(text(read_error(403, status_text(403, "Forbidden"))),
              HasSubstr("it is so; give the user of the token a Role for leases"));
  EXPECT_EQ(text(read_error(403, status_text(403, "Forbidden"), {.if_denied = "ask"})),
            "it is so; ask");
  EXPECT_EQ(text(read_error(403, status_text(403, "Forbidden"), {.if_denied = ""})), "it is so");
  EXPECT_THAT(text(read_error(401, status_text(401, "Unauthorized"))), HasSubstr("check its file"));
  EXPECT_EQ(text(read_error(500, status_text(500, "InternalError"))), "it is so");
  EXPECT_EQ(text(read_error(502, "")), "");
}

TEST(KubernetesError, WhatIsShownIsOneShortPrintableLine) {
  const std::string shown = text(read_error(500, "a\r\n\x1b[2J" + std::string(10'000, 'b')));
  EXPECT_LE(shown.size(), 300U);
  EXPECT_EQ(shown.find_first_of("\r\n\x1b"), std::string::npos) << shown;
}

}  // namespace
}  // namespace tenure::stores::kubernetes
