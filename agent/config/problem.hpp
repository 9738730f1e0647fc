#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::config {

/// Longest piece of a user's input that a message repeats. It keeps a line readable, and keeps
/// most of a secret that was put into the wrong place out of the log.
inline constexpr std::size_t max_quoted_bytes = 80;

/// One thing that is wrong with the configuration, for a person.
struct problem {
  std::string where;  ///< "tenure.yaml:3:7", "--ttl", "TENURE_TTL"; empty: nowhere was it given
  std::string what;   ///< what is wrong, with the value that is
  std::string suggestion;  ///< what to do or write instead; may be empty

  friend bool operator==(const problem&, const problem&) = default;
};

/// One line, whatever is in it: what does not print is escaped.
/// `tenure.yaml:3:7: unknown setting "tll"; did you mean "ttl"?`.
std::string render(const problem& p);

/// `input` in double quotes: what does not print is escaped, cut after `max_quoted_bytes`. Not
/// called `quoted`, because std::quoted would then be found first for a std::string.
std::string quote(std::string_view input);

}  // namespace tenure::config
