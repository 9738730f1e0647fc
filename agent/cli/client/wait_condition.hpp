#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "wire/election.hpp"

/// The conditions of `tenure wait --for`. No I/O.
namespace tenure::cli {

struct wait_condition {
  enum class kind : std::uint8_t { active, standby, holder, held, vacant };

  kind is = kind::active;
  std::string holder{};  ///< for `kind::holder` only
};

/// "active", "standby", "holder=db-1", "held", "vacant". The error says what is wrong.
std::expected<wait_condition, std::string> parse_condition(const std::string& text);

enum class met : std::uint8_t { no, yes, cannot_tell };

met judge(const wait_condition& what, const wire::election_report& now);

/// "a is active in db; a holds it, under version 7": the present state.
std::string status_text(const wire::election_report& now);

}  // namespace tenure::cli
