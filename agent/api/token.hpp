#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace tenure::api {

/// The secret in a file, without the white space around it. Never empty. The error names the file
/// and what is wrong with it, never its contents. Does not wait for a pipe.
std::expected<std::string, std::string> read_token(const std::string& file);

/// Compares in a time that does not depend on where they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace tenure::api
