#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "world.hpp"

namespace tenure::shell {

/// To whom an operator gives what others hold. Nothing runs by this name.
inline constexpr std::string_view nobodys_name = "somebody";

/// Why a key is gone.
enum class erased_by : std::uint8_t { transaction, expiry, somebody };

/// A key that a restored cluster has.
struct restored_key {
  std::string key;
  std::uint64_t create_revision = 0;
  std::int64_t lease = 0;  ///< 0: that with which it was created
};

/// Who hears what really happens in the cluster.
class store_witness {
 public:
  virtual ~store_witness() = default;
  /// `value`: what it was created with.
  virtual void created(const std::string& key, std::uint64_t revision, std::int64_t lease,
                       const std::string& value) = 0;
  /// The key with this version goes on as `to`, with another lease.
  virtual void moved(std::uint64_t /*version*/, const std::string& /*to*/, std::int64_t /*lease*/) {
  }
  virtual void erased(const std::string& key, std::uint64_t create_revision, erased_by how) = 0;
  /// Who holds by this key is about to lose it, and the store grants it to nobody before.
  virtual void delayed(const std::string& /*key*/, world_time /*until*/) {}
  /// The cluster was restored from a backup: from now on its history is the one that had `there`,
  /// and goes on after `revision`.
  virtual void restored(const std::vector<restored_key>& there, std::uint64_t revision) = 0;
  /// From now on so many may hold; 0: nobody has agreed on a number.
  virtual void agreed(const std::string& /*election*/, std::uint32_t /*slots*/) {}
  /// An order of one member to another is not in the store any more; `text`: what it was last.
  virtual void order_gone(const std::string& /*text*/, erased_by /*how*/) {}
  /// A new leader counts all leases from their beginning, those of orders too.
  virtual void leases_begin_anew() {}
};

}  // namespace tenure::shell
