#pragma once

#include <string>

namespace tenure::config {

/// One thing that is wrong with the configuration, for a person.
struct problem {
  std::string where;  ///< "tenure.yaml:3:7", "--ttl", "TENURE_TTL"; empty: nowhere was it given
  std::string what;   ///< what is wrong, with the value that is
  std::string suggestion;  ///< what to do or write instead; may be empty

  friend bool operator==(const problem&, const problem&) = default;
};

/// One line; characters that do not print are escaped.
/// `tenure.yaml:3:7: unknown setting "tll"; did you mean "ttl"?`.
std::string render(const problem& p);

}  // namespace tenure::config
