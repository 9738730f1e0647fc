#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// The chunks of a body in chunked transfer coding.
namespace tenure::http {

/// A chunk with its framing. Empty for no bytes: an empty chunk would end the body.
std::string chunk_text(std::string_view bytes);

/// The framing before the bytes of a chunk, and after them.
std::string chunk_head(std::size_t size);
std::string chunk_end();

/// The chunk that ends the body.
std::string last_chunk();

}  // namespace tenure::http
