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
  std::string_view title;    ///< as its own documentation spells it
  std::string_view example;  ///< an endpoint, for messages
  std::uint16_t default_port =
      0;  ///< the port of a URL that names none; 0: an endpoint is the path of a file
  bool whole_seconds = false;    ///< leases last whole seconds; the store rounds up
  core::duration expiry_lag{};   ///< how late the store may notice that a lease has run out
  bool doubles_ttl = false;      ///< a lease that is not renewed ends at twice its TTL
  bool has_agents = false;       ///< Consul: endpoints may be Unix sockets or lack a scheme
  bool has_tokens = false;       ///< who signs in has a token, not a password; there are namespaces
  bool in_pods = false;          ///< a pod knows where the store is, and has a token for it
  core::duration least_ttl{};    ///< that servers grant unless they are configured otherwise
  core::duration least_renew{};  ///< a lease must not be renewed more often

  [[nodiscard]] constexpr bool is_file() const { return default_port == 0; }
};

inline constexpr std::array store_kinds{
    // SQLite compares with the kernel's own clock, so members see an expiry at once.
    store_kind{.name = "sqlite", .title = "SQLite", .example = "/var/lib/tenure/tenure.db"},
    // etcd looks for expired leases twice a second.
    store_kind{.name = "etcd",
               .title = "etcd",
               .example = "http://127.0.0.1:2379",
               .default_port = 2379,
               .whole_seconds = true,
               .expiry_lag = std::chrono::milliseconds(500)},
    store_kind{.name = "consul",
               .title = "Consul",
               .example = "http://127.0.0.1:8500",
               .default_port = 8500,
               .doubles_ttl = true,
               .has_agents = true,
               .has_tokens = true,
               .least_ttl = std::chrono::seconds(10)},
    // Members count for themselves, from when they have seen the last renewal.
    store_kind{.name = "kubernetes",
               .title = "Kubernetes",
               .example = "https://kubernetes.default.svc",
               .default_port = 443,
               .whole_seconds = true,
               .expiry_lag = std::chrono::milliseconds(100),
               .has_tokens = true,
               .in_pods = true,
               // Go programs see a renewal only if it is of another second.
               .least_renew = std::chrono::seconds(1)},
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

/// The title, or the name itself if this build has no such kind.
constexpr std::string_view title_of_store(std::string_view name) {
  const store_kind* const kind = find_store_kind(name);
  return kind == nullptr ? name : kind->title;
}

/// How late a store of this kind may let another member in after a lease of `ttl` has run out.
constexpr core::duration expiry_lag_of(std::string_view name, core::duration ttl) {
  const store_kind* const kind = find_store_kind(name);
  if (kind == nullptr) return core::duration::zero();
  return kind->expiry_lag + (kind->doubles_ttl ? ttl : core::duration::zero());
}

}  // namespace tenure::settings
