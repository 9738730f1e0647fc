#pragma once

#include <openssl/types.h>

#include <string>

namespace tenure::http {

/// Why the certificate being checked is not accepted, and what to do. Call from the verification
/// callback. `server`: the server that the certificate must name.
std::string certificate_failure(X509_STORE_CTX* checking, const std::string& server);

/// What an error from OpenSSL's queue means in a connection to a server, and what to do.
std::string tls_failure(unsigned long error, bool has_certificate);

}  // namespace tenure::http
