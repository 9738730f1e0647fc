#include "stores/etcd/server_version.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace tenure::stores::etcd {
namespace {

struct version_number {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
};

/// "3.6.0-rc.1" counts as 3.6.0.
std::optional<version_number> parse(std::string_view text) {
  std::array<unsigned, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts[i]);
    if (error != std::errc{}) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (i + 1 == parts.size()) break;
    if (!text.starts_with('.')) return {};
    text.remove_prefix(1);
  }
  return version_number{parts[0], parts[1], parts[2]};
}

/// Fixed in these patch releases, and in every later minor release.
struct defect {
  struct fix {
    unsigned minor;
    unsigned patch;
  };
  std::array<fix, 3> fixed;
  const char* what;
};

constexpr std::array defects{
    defect{{{{4, 42}, {5, 28}, {6, 9}}},
           "may answer reads from the past after it was paused, so verify() may confirm a holder "
           "that was replaced"},
    defect{{{{4, 38}, {5, 23}, {6, 5}}},
           "may confirm the renewal of a lease that it has revoked; the watch finds out"},
    defect{{{{4, 31}, {5, 13}, {6, 0}}},
           "may end leases early after its leader has stalled: a lease may be lost although it was "
           "renewed in time"},
};

bool has(const version_number& server, const defect& d) {
  const auto row = std::ranges::find(d.fixed, server.minor, &defect::fix::minor);
  return row != d.fixed.end() && server.patch < row->patch;
}

std::string remedy(const defect& d) {
  std::string out = "; upgrade to ";
  for (std::size_t i = 0; i < d.fixed.size(); ++i) {
    if (i > 0) out += i + 1 == d.fixed.size() ? " or " : ", ";
    out += "3." + std::to_string(d.fixed[i].minor) + "." + std::to_string(d.fixed[i].patch);
  }
  return out;
}

}  // namespace

std::expected<std::vector<std::string>, std::string> judge_version(std::string_view version) {
  const std::string server = "etcd " + std::string(version);
  const auto number = parse(version);
  if (!number) return std::vector{server + " has a version that is not understood"};
  if (number->major < 3 || (number->major == 3 && number->minor < 4)) {
    return std::unexpected(server + " is too old: leases need the v3 gateway of etcd 3.4 or later");
  }
  std::vector<std::string> warnings;
  if (number->major > 3) return warnings;
  for (const defect& d : defects) {
    if (has(*number, d)) warnings.push_back(server + " " + d.what + remedy(d));
  }
  return warnings;
}

bool progress_keeps_order(std::string_view version) {
  constexpr defect::fix first_of_34{4, 25};
  constexpr defect::fix first_of_35{5, 8};
  const auto number = parse(version);
  if (!number) return false;
  if (number->major != 3 || number->minor > first_of_35.minor) return number->major >= 3;
  const defect::fix& first = number->minor == first_of_35.minor ? first_of_35 : first_of_34;
  return number->minor == first.minor && number->patch >= first.patch;
}

}  // namespace tenure::stores::etcd
