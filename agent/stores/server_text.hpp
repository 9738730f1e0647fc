#pragma once

#include <string>
#include <string_view>

namespace tenure::stores {

/// What a server has said about an error: on one line, without white space around it, cut after 200
/// bytes, and safe to print.
std::string server_text(std::string_view said);

}  // namespace tenure::stores
