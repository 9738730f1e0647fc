#pragma once

#include <string>

#include "core/version.hpp"

namespace tenure::core {

/// What the holder of a term that is over tells the member that comes next, past the store, while
/// its release is on its way (decision 43).
struct word {
  std::string election;        ///< its name
  version ended = no_version;  ///< the term that is over: nothing of it runs or will run
  version told = no_version;   ///< the place in line of the member that is told
  /// The Ed25519 signature of `statement`, by the key that the store has shown beside that term
  /// since it was written.
  std::string signature{};
};

/// What is signed of a word. Two words that say different things have different statements.
std::string statement(const word& what);

}  // namespace tenure::core
