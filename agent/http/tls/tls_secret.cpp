#include "http/tls/tls_secret.hpp"

#include <openssl/crypto.h>

namespace tenure::http {

bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace tenure::http
