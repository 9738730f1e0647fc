#include "api/token.hpp"

#include <cstddef>
#include <string_view>

#include "base/trusted_open.hpp"

namespace tenure::api {
namespace {

constexpr std::size_t most_bytes = 4095;
constexpr std::string_view white_space = " \t\r\n";

}  // namespace

std::expected<std::string, std::string> read_token(const std::string& file) {
  const std::string what = "the control token file " + file;
  const auto read = base::read_named_file("the control token file", file, most_bytes);
  if (!read) return std::unexpected(read.error());
  std::string_view text(*read);
  const std::size_t begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return std::unexpected(what + " is empty");
  text = text.substr(begin, text.find_last_not_of(white_space) - begin + 1);
  if (text.find_first_of(white_space) != std::string_view::npos) {
    return std::unexpected(what + " holds more than one word");
  }
  return std::string(text);
}

}  // namespace tenure::api
