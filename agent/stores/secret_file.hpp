#pragma once

#include <cstddef>
#include <expected>
#include <string>

namespace tenure::stores {

/// Reads a password or a token from a file, without its trailing line breaks. The error names the
/// file, and says what is wrong with it: it cannot be read, is open to be written by others, has
/// more than `most_bytes`, or is empty. `noun` names it in messages: "the password file".
std::expected<std::string, std::string> read_secret(const std::string& noun,
                                                    const std::string& file,
                                                    std::size_t most_bytes);

/// The same for a file that holds one token, to be sent in a header: printable ASCII without
/// blanks.
std::expected<std::string, std::string> read_token(const std::string& file, std::size_t most_bytes);

}  // namespace tenure::stores
