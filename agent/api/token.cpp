#include "api/token.hpp"

#include <cstddef>

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

bool same_secret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

}  // namespace tenure::api
