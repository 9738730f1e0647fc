#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::wire {

/// What went wrong, for a program and for a person.
struct problem {
  std::string code;      ///< stable, snake_case
  std::string message;   ///< what failed, against what
  std::string action{};  ///< what to do next; empty: nothing is said about that

  friend bool operator==(const problem&, const problem&) = default;
};

/// {"error":{"code":...,"message":...,"action":...}}. Message and action are made printable: they
/// repeat what a request or a command line said. An empty action is left out.
std::string write(const problem& what);

/// The problem that a reply reports; nothing if it reports none. What is missing in it is empty.
std::optional<problem> read_problem(std::string_view body);

/// "message; action"; empty without a message.
std::string text(const problem& what);

/// What a probe answers with 200.
inline constexpr std::string_view good_health = R"({"status":"ok"})";

/// True if the body is a JSON object, as every answer of an agent is.
bool is_object(std::string_view body);

}  // namespace tenure::wire
