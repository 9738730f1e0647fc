#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::tests {

/// A request, and what is to be answered.
struct fact_call {
  int line = 0;
  std::string method;
  std::string target;
  std::string body;
  std::vector<int> status{};  ///< one of these
  std::string answer;         ///< JSON; empty: any
};

/// Calls in their order, of which each may use what an earlier one was answered.
struct fact {
  std::string title;
  std::vector<fact_call> calls;
};

/// What a file says: a line `== TITLE` for each fact, then two lines for each call, `METHOD TARGET
/// BODY` and `STATUS ANSWER`, or
/// `STATUS|STATUS ANSWER` where releases differ; empty lines, and lines that begin with #, are for
/// people. Aborts if a line cannot be read.
std::vector<fact> facts_in(const std::string& path);

/// What a fact knows while its calls are made.
class fact_run {
 public:
  /// `place`: where its keys are; no other fact has any there.
  explicit fact_run(std::string place) : place_(std::move(place)) {}

  /// A request as it is sent: `<x>` is the name x in the place of the fact, `{x}` what an answer
  /// has bound, and a JSON string that begins with `64:` is the rest of it in base64.
  [[nodiscard]] std::string sent(const std::string& text) const;

  /// Empty if `got` is what `wanted` says, else how it differs. Members of an object that are not
  /// named may be anything, null is one that is absent, false one that may be; arrays are as long;
  /// "*" is anything; "$x" binds x, or is what x was bound to.
  [[nodiscard]] std::string differs(const std::string& wanted, const std::string& got);

 private:
  std::string place_;
  std::map<std::string, std::string> bound_;
};

}  // namespace tenure::tests
