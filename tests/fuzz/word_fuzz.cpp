// Any bytes may come to a member's channel: they are no word, or exactly the bytes of one.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.hpp"
#include "peer/word_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes are bytes
  const std::string_view datagram(reinterpret_cast<const char*>(data), size);
  const auto word = peer::decode(datagram);
  if (!word) return 0;
  TENURE_CHECK(!word->election.empty() && word->election.size() <= peer::most_name_bytes);
  TENURE_CHECK(word->signature.size() == peer::signature_bytes);
  TENURE_CHECK(peer::encode(*word) == datagram);
  TENURE_CHECK(!core::statement(*word).empty());
  return 0;
}
