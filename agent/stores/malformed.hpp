#pragma once

#include <expected>
#include <string>

namespace tenure::stores {

/// Why a body is not the expected reply. `why` is one line for a log and repeats at most a few
/// printable bytes of the body.
struct malformed {
  std::string why;
};

template <class Reply>
using parsed = std::expected<Reply, malformed>;

}  // namespace tenure::stores
