#pragma once

#include <expected>
#include <string>

namespace tenure::api {

/// The secret in a file, without the white space around it. Never empty. The error names the file
/// and what is wrong with it, never its contents. Does not wait for a pipe.
std::expected<std::string, std::string> read_token(const std::string& file);

}  // namespace tenure::api
