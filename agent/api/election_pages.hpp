#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/codec.hpp"
#include "api/snapshot.hpp"
#include "api/standing.hpp"

namespace tenure::api {

/// The forms of elections at their newest index, so that an answer is filled in and not composed:
/// most of them are asked for many times between two changes. Not thread-safe.
class election_pages {
 public:
  /// So many are kept, about a kilobyte each; those of other elections are made every time.
  static constexpr std::size_t most_kept = 1024;

  /// The form of the election at `place`, valid until the next call.
  const election_form& of(const snapshot& seen, std::size_t place, const instant& at);

 private:
  struct entry {
    std::uint64_t index = 0;
    std::string agent;  ///< empty: there is no form yet
    election_form form;
  };
  std::vector<entry> kept_;
  election_form other_;
};

}  // namespace tenure::api
