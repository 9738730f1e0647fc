#include "http/tls/tls_context.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ssl/context.hpp>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/error_text.hpp"
#include "base/trusted_open.hpp"

namespace tenure::http {
namespace {

namespace ssl = boost::asio::ssl;

using outcome = std::expected<void, std::string>;

/// Where distributions keep trusted CAs. OpenSSL knows one place, fixed when it was built, which
/// may differ in an image that our static binary is copied into.
constexpr std::array system_bundles{"/etc/ssl/certs/ca-certificates.crt",
                                    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

/// Without this, OpenSSL would read the openssl.cnf of the root that our static binary is in, and
/// load the modules that it names. One that was built for a shared OpenSSL, on another C library,
/// ends the process.
void read_no_configuration() {
  [[maybe_unused]] static const int done = ::OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
}

/// Without this, OpenSSL would ask for a passphrase on the terminal, and wait.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

std::unexpected<std::string> failed(const std::string& what, const std::string& file,
                                    const std::string& why) {
  return std::unexpected("cannot use " + what + " " + file + ": " + why);
}

/// OpenSSL's reason for a failure. It names the place in the file's format, and none of its
/// contents.
std::string reason_of(unsigned long error) {
  const char* reason = ::ERR_reason_error_string(error);
  ::ERR_clear_error();
  return reason != nullptr ? reason : "no reason given";
}

std::string last_reason() {
  return reason_of(::ERR_peek_last_error());
}

/// The text itself is never repeated: it may be a key.
std::unexpected<std::string> failed_text(const std::string& what, const std::string& why) {
  return std::unexpected("cannot use " + what + " that is given as text: " + why);
}

/// OpenSSL's reason, as asio has taken it.
std::string reason_of(const boost::system::error_code& error) {
  return reason_of(static_cast<unsigned long>(error.value()));
}

/// A pipe in place of a file would block us for ever, and a file that everybody can write to proves
/// nothing about the server.
outcome readable(const std::string& what, const std::string& file) {
  const auto opened =
      base::open_trusted(AT_FDCWD, file.c_str(), O_RDONLY, base::named_by_an_operator);
  if (opened) return {};
  const base::flaw& why = opened.error();
  return failed(what, file,
                why.why == base::flaw::kind::cannot_open
                    ? base::error_text(why.error) + "; " + base::remedy_of(why.error)
                    : base::text("it", why));
}

outcome load_authorities(SSL_CTX* into, const std::string& file) {
  if (file.empty()) {
    ::SSL_CTX_set_default_verify_paths(into);
    const char* const asked = std::getenv(::X509_get_default_cert_file_env());
    const char* const standard = asked != nullptr ? asked : ::X509_get_default_cert_file();
    if (::access(standard, R_OK) == 0) return {};
    for (const char* bundle : system_bundles) {
      if (::SSL_CTX_load_verify_file(into, bundle) == 1) break;
    }
    ::ERR_clear_error();
    return {};
  }
  const std::string what = "the CA file";
  if (auto there = readable(what, file); !there) return there;
  if (::SSL_CTX_load_verify_file(into, file.c_str()) != 1) {
    return failed(what, file, "it holds no PEM certificate (" + last_reason() + ")");
  }
  return {};
}

outcome take_authorities(ssl::context& into, const std::string& pem) {
  boost::system::error_code error;
  into.add_certificate_authority(boost::asio::buffer(pem), error);
  if (!error) return {};
  return failed_text("the CA certificate",
                     "it is not a PEM certificate (" + reason_of(error) + ")");
}

outcome take_certificate(ssl::context& into, const std::string& pem) {
  boost::system::error_code error;
  into.use_certificate_chain(boost::asio::buffer(pem), error);
  if (!error) return {};
  return failed_text("the certificate", "it is not a PEM certificate (" + reason_of(error) + ")");
}

bool is_of_another_certificate(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_X509 && ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH;
}

outcome take_key(ssl::context& into, const std::string& pem) {
  boost::system::error_code error;
  into.use_private_key(boost::asio::buffer(pem), ssl::context::pem, error);
  if (!error) return {};
  if (is_of_another_certificate(static_cast<unsigned long>(error.value()))) {
    return failed_text("the key", "it is not the key of the certificate");
  }
  return failed_text("the key",
                     "it is not a PEM private key without a passphrase (" + reason_of(error) + ")");
}

outcome load_certificate(SSL_CTX* into, const tls_settings& s) {
  const std::string certificate = "the certificate file";
  if (auto there = readable(certificate, s.certificate_file); !there) return there;
  if (::SSL_CTX_use_certificate_chain_file(into, s.certificate_file.c_str()) != 1) {
    return failed(certificate, s.certificate_file,
                  "it holds no PEM certificate (" + last_reason() + ")");
  }
  return {};
}

outcome load_key(SSL_CTX* into, const tls_settings& s) {
  const std::string key = "the key file";
  if (auto there = readable(key, s.key_file); !there) return there;
  if (::SSL_CTX_use_PrivateKey_file(into, s.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    const unsigned long error = ::ERR_peek_last_error();
    if (is_of_another_certificate(error)) {
      return failed(key, s.key_file,
                    "it is not the key of " +
                        (s.certificate_file.empty() ? "the certificate" : s.certificate_file));
    }
    return failed(key, s.key_file,
                  "it holds no PEM private key without a passphrase (" + last_reason() + ")");
  }
  return {};
}

outcome load_own_certificate(ssl::context& into, const tls_settings& s) {
  auto certificate = s.certificate.empty() ? load_certificate(into.native_handle(), s)
                                           : take_certificate(into, s.certificate);
  if (!certificate) return certificate;
  return s.key.empty() ? load_key(into.native_handle(), s) : take_key(into, s.key);
}

std::expected<std::shared_ptr<ssl::context>, std::string> load(const tls_settings& s) {
  if (s.has_certificate() != s.has_key()) {
    return std::unexpected(
        "a client certificate needs both its file and the file of its key; only one is given");
  }
  read_no_configuration();
  ::ERR_clear_error();
  SSL_CTX* const made = ::SSL_CTX_new(::TLS_client_method());
  if (made == nullptr) return std::unexpected("cannot set up TLS: " + last_reason());
  auto context = std::make_shared<ssl::context>(made);
  ::SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
  ::SSL_CTX_set_verify(made, SSL_VERIFY_PEER, nullptr);
  ::SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_default_passwd_cb(made, no_passphrase);
  // Buffers of 34 KiB per connection are released while it is idle.
  ::SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS);
  auto trusted = s.authorities.empty() ? load_authorities(made, s.ca_file)
                                       : take_authorities(*context, s.authorities);
  if (!trusted) return std::unexpected(std::move(trusted.error()));
  if (s.has_certificate()) {
    if (auto loaded = load_own_certificate(*context, s); !loaded) {
      return std::unexpected(std::move(loaded.error()));
    }
  }
  return context;
}

}  // namespace

tls_context::stamp tls_context::stamp_of(const std::string& file) {
  struct stat seen{};
  if (file.empty() || ::stat(file.c_str(), &seen) != 0) return {};
  return {.device = seen.st_dev,
          .inode = seen.st_ino,
          .size = seen.st_size,
          .modified_seconds = seen.st_mtim.tv_sec,
          .modified_nanoseconds = seen.st_mtim.tv_nsec};
}

tls_context::stamps tls_context::stamps_now() const {
  return {stamp_of(settings_.ca_file), stamp_of(settings_.certificate_file),
          stamp_of(settings_.key_file)};
}

std::expected<std::shared_ptr<ssl::context>, std::string> tls_context::current() {
  // Taken before loading: a file that is swapped meanwhile is loaded again the next time.
  const stamps now = stamps_now();
  if (!loaded_ || now != tried_) {
    tried_ = now;
    auto fresh = load(settings_);
    problem_ = fresh ? std::string() : fresh.error();
    if (fresh) loaded_ = std::move(*fresh);
  }
  if (!loaded_) return std::unexpected(problem_);
  return loaded_;
}

}  // namespace tenure::http
