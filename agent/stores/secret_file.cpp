#include "stores/secret_file.hpp"

#include <algorithm>

#include "base/trusted_open.hpp"

namespace tenure::stores {

std::expected<std::string, std::string> read_secret(const std::string& noun,
                                                    const std::string& file,
                                                    std::size_t most_bytes) {
  auto read = base::read_named_file(noun, file, most_bytes);
  if (!read) return read;
  while (read->ends_with('\n') || read->ends_with('\r')) read->pop_back();
  if (read->empty()) return std::unexpected(noun + " " + file + " is empty");
  return read;
}

std::expected<std::string, std::string> read_token(const std::string& file,
                                                   std::size_t most_bytes) {
  auto read = read_secret("the token file", file, most_bytes);
  if (!read) return read;
  if (!std::ranges::all_of(*read, [](char c) { return c > ' ' && c <= '~'; })) {
    return std::unexpected("the token file " + file + " holds something else than one token");
  }
  return read;
}

}  // namespace tenure::stores
