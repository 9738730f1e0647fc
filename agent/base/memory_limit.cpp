#include "base/memory_limit.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "base/number_text.hpp"

namespace tenure::base {
namespace {

constexpr std::uint64_t part_for_a_reply = 16;
constexpr std::uint64_t least_reply = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_reply = std::uint64_t{64} << 20U;

bool has_memory(std::string_view controllers) {
  return ("," + std::string(controllers) + ",").contains(",memory,");
}

/// Takes what `file` of this cgroup and of all above it says into `least`, up to `mounted`.
void take_limits(std::filesystem::path mounted, std::string_view path, const char* file,
                 std::optional<std::uint64_t>& least) {
  const auto look_at = [&](const std::filesystem::path& cgroup) {
    std::ifstream in(cgroup / file);
    std::string text;
    // "max" is not a number, and version 1 says a number that no machine has.
    if (!std::getline(in, text)) return;
    if (const auto limit = read_number<std::uint64_t>(text)) {
      least = std::min(least.value_or(*limit), *limit);
    }
  };
  look_at(mounted);
  for (const auto& name : std::filesystem::path(path).relative_path()) {
    // Outside of what this process sees.
    if (name == "..") return;
    mounted /= name;
    look_at(mounted);
  }
}

}  // namespace

std::optional<std::uint64_t> memory_limit(std::istream& cgroups,
                                          const std::filesystem::path& mounted) {
  std::optional<std::uint64_t> least;
  // "NUMBER:CONTROLLERS:PATH"; the line without controllers is version 2.
  for (std::string line; std::getline(cgroups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    const std::string_view path = std::string_view(line).substr(second + 1);
    if (controllers.empty()) take_limits(mounted, path, "memory.max", least);
    if (has_memory(controllers)) {
      take_limits(mounted / "memory", path, "memory.limit_in_bytes", least);
    }
  }
  return least;
}

std::optional<std::uint64_t> memory_limit() {
  std::ifstream cgroups("/proc/self/cgroup");
  return memory_limit(cgroups, "/sys/fs/cgroup");
}

std::size_t most_reply_bytes(std::optional<std::uint64_t> limit) {
  return std::clamp(limit.value_or(UINT64_MAX) / part_for_a_reply, least_reply, most_reply);
}

}  // namespace tenure::base
