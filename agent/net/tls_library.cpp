#include "net/tls_library.hpp"

#include <openssl/crypto.h>

namespace tenure::net {

std::string tls_library() {
  return ::OpenSSL_version(OPENSSL_VERSION);
}

}  // namespace tenure::net
