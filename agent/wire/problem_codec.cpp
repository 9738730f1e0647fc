#include <nlohmann/json.hpp>

#include "base/printable_text.hpp"
#include "wire/json_codec.hpp"
#include "wire/problem.hpp"

namespace tenure::wire {

static void describe(maybe_const<problem> auto& of, auto& with) {
  with("code", of.code);
  with("message", of.message);
  with.if_any("action", of.action);
}

std::string write(const problem& what) {
  std::string out = R"({"error":)";
  append(out, problem{.code = what.code,
                      .message = base::printable(what.message),
                      .action = base::printable(what.action)});
  return out + "}";
}

std::optional<problem> read_problem(std::string_view body) {
  std::optional<problem> out;
  read(member(parsed(body), "error"), out);
  return out;
}

std::string text(const problem& what) {
  if (what.message.empty() || what.action.empty()) return what.message;
  return what.message + "; " + what.action;
}

bool is_object(std::string_view body) {
  return parsed(body).is_object();
}

}  // namespace tenure::wire
