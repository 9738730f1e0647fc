#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/election.hpp"

namespace tenure::wire {

/// "Does the holder (any, if none is given) still hold under this version?"
struct term_question {
  core::version term = core::no_version;
  std::optional<std::string> holder{};

  friend bool operator==(const term_question&, const term_question&) = default;
};

/// The yes or the no to a question.
struct verification {
  bool valid = false;
  std::string reason{};   ///< of a no: the name of the validity
  std::string message{};  ///< of a no, for a person
  std::string action{};   ///< of a no: what to do
  std::string election;
  term_question asked{};
  /// That of the term in question if it is valid, else the one to show.
  std::optional<core::holder> holder{};
  std::vector<core::holder> holders{};          ///< those in force
  std::string source;                           ///< what it rests on: "lease", "cache" or "store"
  std::optional<std::int64_t> as_of_unix_ms{};  ///< when it was true
  std::optional<std::int64_t> age_ms{};         ///< how long before the answer that was
  std::optional<std::int64_t> expires_in_ms{};
  std::string identity{};  ///< the member whose agent answers
  store_report store{};
  std::string cluster_id{};

  friend bool operator==(const verification&, const verification&) = default;
};

/// A yes has no "reason", "message" and "action".
std::string write(const verification& what);

/// Nothing if the body does not say what it answers, or gives no clear yes or no: a proxy may
/// answer anything.
std::optional<verification> read_verification(std::string_view body);

}  // namespace tenure::wire
