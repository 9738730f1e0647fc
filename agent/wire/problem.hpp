#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::wire {

/// An error, for a program and for a person.
struct problem {
  std::string code;      ///< stable, snake_case
  std::string message;   ///< what failed, against what
  std::string action{};  ///< what to do next; empty: no advice

  friend bool operator==(const problem&, const problem&) = default;
};

/// {"error":{"code":...,"message":...,"action":...}}. Message and action are made printable, as
/// they repeat parts of a request or a command line. An empty action is omitted.
std::string write(const problem& what);

/// The problem that a reply reports; nothing if it reports none. Missing members are empty.
std::optional<problem> read_problem(std::string_view body);

/// "message; action"; empty without a message.
std::string text(const problem& what);

/// The body of a probe's answer with status 200.
inline constexpr std::string_view good_health = R"({"status":"ok"})";

/// True if the body is a JSON object, as all answers of an agent are.
bool is_object(std::string_view body);

}  // namespace tenure::wire
