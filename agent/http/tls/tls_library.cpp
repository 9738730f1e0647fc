#include "http/tls/tls_library.hpp"

#include <openssl/crypto.h>

namespace tenure::http {

std::string tls_library() {
  return ::OpenSSL_version(OPENSSL_VERSION);
}

}  // namespace tenure::http
