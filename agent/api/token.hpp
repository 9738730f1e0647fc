#pragma once

#include <expected>
#include <string>
#include <string_view>

namespace tenure::api {

/// The secret in a file, without the white space around it. Not empty. The error names the file and
/// what is wrong with it, never what is in it. Does not wait for a pipe.
std::expected<std::string, std::string> read_token(const std::string& file);

/// Compares in a time that says nothing of where they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace tenure::api
