#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/clock.hpp"

namespace tenure::settings {

/// A kind of store that this build has: what the configuration must know of it.
/// `stores::make_store` makes it.
struct store_kind {
  std::string_view name;
  std::string_view example;        ///< of an endpoint, for messages
  std::uint16_t default_port = 0;  ///< of an endpoint that is a URL; 0: it is the path of a file
  bool whole_seconds = false;      ///< leases last whole seconds; the store rounds up
  core::duration expiry_lag{};     ///< how late the store may notice that a lease has run out

  [[nodiscard]] constexpr bool is_file() const { return default_port == 0; }
};

inline constexpr std::array store_kinds{
    // SQLite compares with the kernel's own clock, so members see an expiry at once.
    store_kind{.name = "sqlite", .example = "/var/lib/tenure/tenure.db"},
    // etcd looks for expired leases twice a second.
    store_kind{.name = "etcd",
               .example = "http://127.0.0.1:2379",
               .default_port = 2379,
               .whole_seconds = true,
               .expiry_lag = std::chrono::milliseconds(500)},
};

inline constexpr auto store_names = [] {
  std::array<std::string_view, store_kinds.size()> out;
  std::ranges::transform(store_kinds, out.begin(), &store_kind::name);
  return out;
}();

/// Null if this build has no such kind.
constexpr const store_kind* find_store_kind(std::string_view name) {
  const auto found = std::ranges::find(store_kinds, name, &store_kind::name);
  return found == store_kinds.end() ? nullptr : &*found;
}

}  // namespace tenure::settings
