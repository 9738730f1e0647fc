#include "peer/word_codec.hpp"

#include <cstdint>

#include "core/check.hpp"

namespace tenure::peer {
namespace {

constexpr std::string_view mark = "TNR1";
constexpr std::size_t version_bytes = 8;
constexpr std::size_t bytes_before_name = mark.size() + 2 * version_bytes + signature_bytes;
constexpr unsigned bits_of_byte = 8;

void append(std::string& to, core::version what) {
  for (std::size_t left = version_bytes; left > 0; --left) {
    to += static_cast<char>(core::number(what) >> (bits_of_byte * (left - 1)));
  }
}

core::version take_version(std::string_view& from) {
  std::uint64_t out = 0;
  for (const char one : from.substr(0, version_bytes)) {
    out = out << bits_of_byte | static_cast<unsigned char>(one);
  }
  from.remove_prefix(version_bytes);
  return core::version{out};
}

}  // namespace

std::string encode(const core::word& what) {
  TENURE_CHECK(what.signature.size() == signature_bytes);
  TENURE_CHECK(!what.election.empty() && what.election.size() <= most_name_bytes);
  std::string out(mark);
  append(out, what.ended);
  append(out, what.told);
  return out.append(what.signature).append(what.election);
}

std::optional<core::word> decode(std::string_view datagram) {
  if (datagram.size() <= bytes_before_name || datagram.size() > most_word_bytes) return {};
  if (!datagram.starts_with(mark)) return {};
  datagram.remove_prefix(mark.size());
  core::word out;
  out.ended = take_version(datagram);
  out.told = take_version(datagram);
  out.signature = datagram.substr(0, signature_bytes);
  out.election = datagram.substr(signature_bytes);
  return out;
}

}  // namespace tenure::peer
