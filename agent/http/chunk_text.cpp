#include "http/chunk_text.hpp"

#include <array>
#include <charconv>

namespace tenure::http {

std::string chunk_text(std::string_view bytes) {
  if (bytes.empty()) return {};
  return chunk_head(bytes.size()).append(bytes).append(chunk_end());
}

std::string chunk_head(std::size_t size) {
  std::array<char, 2 * sizeof size> digits{};
  char* const begin = digits.data();
  const char* end = std::to_chars(begin, begin + digits.size(), size, 16).ptr;
  return std::string(begin, static_cast<std::size_t>(end - begin)) + chunk_end();
}

std::string chunk_end() {
  return "\r\n";
}

std::string last_chunk() {
  return chunk_head(0) + chunk_end();
}

}  // namespace tenure::http
