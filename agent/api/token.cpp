#include "api/token.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "os/error_text.hpp"
#include "os/trusted_open.hpp"

namespace tenure::api {
namespace {

constexpr std::size_t most_bytes = 4096;
constexpr std::string_view white_space = " \t\r\n";

}  // namespace

std::expected<std::string, std::string> read_token(const std::string& file) {
  const std::string what = "the control token file " + file;
  const auto opened = os::open_named_file("the control token file", file);
  if (!opened) return std::unexpected(opened.error().text);
  std::array<char, most_bytes> buffer{};
  const ssize_t size = ::read(opened->get(), buffer.data(), buffer.size());
  if (size < 0) return std::unexpected("cannot read " + what + ": " + os::error_text(errno));
  std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  if (text.size() == most_bytes) return std::unexpected(what + " has 4096 bytes or more");
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
