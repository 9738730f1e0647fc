#include "kube/container_end.hpp"

#include <algorithm>
#include <array>

namespace tenure::kube {
namespace {

/// What the kubelet reads of a termination message, in bytes.
constexpr std::size_t most_shown = 4096;
/// By the kubelet: it has these from the container runtime.
constexpr std::array<std::string_view, 3> reasons_of_exits{"Completed", "Error", "OOMKilled"};
constexpr std::int64_t missed_exit_code = 255;

}  // namespace

std::string last_words(std::string_view election, core::version version,
                       std::string_view sequencer) {
  std::string out = "last term here: version " + std::to_string(core::number(version)) + " of ";
  out.append(election).append(", ").append(sequencer);
  if (out.size() > most_shown) out.clear();
  return out;
}

bool was_seen(const container_end& what) {
  return what.exit_code != missed_exit_code &&
         std::ranges::find(reasons_of_exits, what.reason) != reasons_of_exits.end();
}

}  // namespace tenure::kube
