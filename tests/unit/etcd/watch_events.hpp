#pragma once

#include <cstdint>
#include <string>

#include "stores/etcd/codec.hpp"

namespace tenure::stores::etcd {

inline key_value key(const std::string& name, const std::string& value, std::uint64_t revision) {
  return {.key = name,
          .value = value,
          .create_revision = revision,
          .mod_revision = revision,
          .lease = 7};
}

inline watch_event came(const std::string& name, const std::string& value, std::uint64_t revision) {
  return {.erased = false, .kv = key(name, value, revision)};
}

/// As etcd tells it: with the key and the revision of the deletion, and nothing else.
inline watch_event went(const std::string& name, std::uint64_t revision) {
  watch_event out{.erased = true, .kv = {}};
  out.kv.key = name;
  out.kv.mod_revision = revision;
  return out;
}

}  // namespace tenure::stores::etcd
