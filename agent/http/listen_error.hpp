#pragma once

#include <cstdint>
#include <string>

namespace tenure::http {

/// Why a listener could not be opened; each calls for something else of the caller.
enum class listen_failure : std::uint8_t {
  in_use,         ///< another process has the port; another port, or none, may do
  not_permitted,  ///< a privileged port, or forbidden by policy
  not_ours,       ///< no interface of this machine has the address
  bad_address,    ///< not an IP literal
  other,
};

struct listen_error {
  listen_failure kind = listen_failure::other;
  std::string text;  ///< what failed, against which address, why
};

}  // namespace tenure::http
