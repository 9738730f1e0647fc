#include "http/tls/tls_failure.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/printable_text.hpp"

namespace tenure::http {
namespace {

/// The most names of a certificate that are shown.
constexpr int most_names = 8;
/// The longest host name.
constexpr std::size_t most_name_bytes = 253;

std::string date(const ASN1_TIME* when) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> out(::BIO_new(::BIO_s_mem()), &::BIO_free);
  if (!out || ::ASN1_TIME_print(out.get(), when) != 1) return "a date that cannot be read";
  char* words = nullptr;
  const long size = BIO_get_mem_data(out.get(), &words);
  return {words, static_cast<std::size_t>(size)};
}

std::string bytes_of(const ASN1_STRING* text) {
  const std::string_view bytes(reinterpret_cast<const char*>(::ASN1_STRING_get0_data(text)),
                               static_cast<std::size_t>(::ASN1_STRING_length(text)));
  return base::printable(bytes, most_name_bytes);
}

std::string name_of(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) return bytes_of(name.d.dNSName);
  if (name.type != GEN_IPADD) return {};
  const int size = ::ASN1_STRING_length(name.d.iPAddress);
  std::array<char, INET6_ADDRSTRLEN> out{};
  ::inet_ntop(size == 4 ? AF_INET : AF_INET6, ::ASN1_STRING_get0_data(name.d.iPAddress), out.data(),
              out.size());
  return size == 4 || size == 16 ? out.data() : std::string();
}

/// "etcd-0.etcd, 10.0.0.1"
std::string names_of(X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&::GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          ::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &::GENERAL_NAMES_free);
  std::string out;
  const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
  for (int i = 0; i < std::min(count, most_names); ++i) {
    const std::string name = name_of(*sk_GENERAL_NAME_value(names.get(), i));
    if (!name.empty()) out += (out.empty() ? "" : ", ") + name;
  }
  return count > most_names ? out + ", ..." : out;
}

}  // namespace

std::string certificate_failure(X509_STORE_CTX* checking, const std::string& server) {
  X509* const certificate = ::X509_STORE_CTX_get_current_cert(checking);
  const int error = ::X509_STORE_CTX_get_error(checking);
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the certificate expired on " + date(::X509_get0_notAfter(certificate)) +
             "; renew it, or correct this machine's clock";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the certificate is not valid before " + date(::X509_get0_notBefore(certificate)) +
             "; correct this machine's clock";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the certificate is from an unknown CA; give the CA that signed it as the CA file";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: {
      const std::string names = names_of(certificate);
      return "the certificate is not for " + server + " but for " +
             (names.empty() ? "no alternative name at all" : names) +
             "; use one of its names as host or as server name, or issue one for this host";
    }
    default:
      return "the certificate is not accepted: " +
             std::string(::X509_verify_cert_error_string(error));
  }
}

std::string tls_failure(unsigned long error, bool has_certificate) {
  if (ERR_GET_LIB(error) == ERR_LIB_SSL) {
    switch (ERR_GET_REASON(error)) {
      case SSL_R_WRONG_VERSION_NUMBER:
      case SSL_R_HTTP_REQUEST:
      case SSL_R_PACKET_LENGTH_TOO_LONG:
        return "the server does not speak TLS; does it serve plain HTTP (http://)?";
      case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        return "the server wants a client certificate; give its file and the file of its key";
      case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        return has_certificate
                   ? "the server refused the handshake; does it accept this client certificate?"
                   : "the server refused the handshake; does it want a client certificate?";
      case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
      case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
      case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
        return "the server does not accept the client certificate (" +
               std::string(::ERR_reason_error_string(error)) + ")";
      case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      case SSL_R_UNSUPPORTED_PROTOCOL:
        return "the server has neither TLS 1.2 nor 1.3";
      default:
        break;
    }
  }
  const char* reason = ::ERR_reason_error_string(error);
  return "TLS failed: " + std::string(reason != nullptr ? reason : "no reason given");
}

}  // namespace tenure::http
