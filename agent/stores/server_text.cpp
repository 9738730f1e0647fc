#include "stores/server_text.hpp"

#include "base/printable_text.hpp"

namespace tenure::stores {
namespace {

constexpr std::size_t most_bytes_said = 200;

}  // namespace

std::string server_text(std::string_view said) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = said.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  said = said.substr(begin, said.find_last_not_of(blanks) - begin + 1);
  return base::printable(said, most_bytes_said);
}

}  // namespace tenure::stores
