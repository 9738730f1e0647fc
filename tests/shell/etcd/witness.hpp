#pragma once

#include <cstdint>
#include <string>

namespace tenure::shell {

/// Why a key is gone.
enum class erased_by : std::uint8_t { transaction, expiry, somebody };

/// Who hears what really happens in the cluster.
class etcd_witness {
 public:
  virtual ~etcd_witness() = default;
  virtual void created(const std::string& key, std::uint64_t revision, std::int64_t lease) = 0;
  virtual void erased(const std::string& key, std::uint64_t create_revision, erased_by how) = 0;
};

}  // namespace tenure::shell
