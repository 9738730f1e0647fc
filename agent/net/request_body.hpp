#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::net {

/// What reading the chunks of a body has come to.
struct chunked_body {
  enum class state : std::uint8_t { incomplete, complete, malformed, too_large };
  state is = state::incomplete;
  std::size_t size = 0;  ///< of the chunks with all that is around them, if complete
};

/// Reads a chunked body from its beginning into `body`, which may grow up to `limit`. Chunks that
/// are much smaller than what is around them are too large as well. Extensions and trailers are
/// malformed: nobody here sends them, and readers differ about them.
chunked_body read_chunked(std::string_view bytes, std::size_t limit, std::string& body);

}  // namespace tenure::net
