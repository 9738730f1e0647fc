#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Pieces of a body that ends by its last chunk.
namespace tenure::http {

/// A piece with what is around it. Nothing for no bytes: an empty chunk would end the body.
std::string chunk_text(std::string_view bytes);

/// What stands before the bytes of a piece, and behind them.
std::string chunk_head(std::size_t size);
std::string chunk_end();

/// What stands behind the last piece.
std::string last_chunk();

}  // namespace tenure::http
