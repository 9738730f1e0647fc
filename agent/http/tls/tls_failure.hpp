#pragma once

#include <openssl/types.h>

#include <string>

namespace tenure::http {

/// Why the certificate that is being checked is not accepted, and what to do; to be called from
/// the verification callback. `server`: whom it should be for.
std::string certificate_failure(X509_STORE_CTX* checking, const std::string& server);

/// What an error of OpenSSL's queue means in a connection to a server, and what to do.
std::string tls_failure(unsigned long error, bool has_certificate);

}  // namespace tenure::http
