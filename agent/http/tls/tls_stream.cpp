#include "http/tls/tls_stream.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/ssl/verify_context.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "http/client/as_values.hpp"
#include "http/client/client_socket.hpp"
#include "http/tls/tls_failure.hpp"
#include "settings/listen_address.hpp"

namespace tenure::http {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

class tls_stream : public byte_stream {
 public:
  tls_stream(asio::generic::stream_protocol::socket connected, std::shared_ptr<ssl::context> with,
             std::string server, bool has_certificate)
      : context_(std::move(with)),
        stream_(client_socket(std::move(connected)), *context_),
        server_(std::move(server)),
        has_certificate_(has_certificate) {}

  asio::awaitable<std::expected<void, std::string>> handshake() override {
    if (!expect_server()) co_return std::unexpected("the server name " + server_ + " is not valid");
    const auto [error] = co_await stream_.async_handshake(ssl::stream_base::client, as_values);
    if (error) co_return std::unexpected(explain(error, "in the TLS handshake"));
    co_return std::expected<void, std::string>();
  }

  asio::awaitable<std::expected<std::size_t, std::string>> read_some(
      asio::mutable_buffer into) override {
    const auto [error, size] = co_await stream_.async_read_some(into, as_values);
    if (error == asio::error::eof) co_return std::size_t{0};
    if (error) co_return std::unexpected(explain(error, "without ending TLS"));
    co_return size;
  }

  asio::awaitable<bool> write(asio::const_buffer all) override {
    const auto [error, size] = co_await asio::async_write(stream_, all, as_values);
    co_return !error;
  }

  void close() override { stream_.next_layer().close(); }

  bool is_quiet() override {
    return ::SSL_pending(stream_.native_handle()) == 0 && stream_.next_layer().is_quiet();
  }

 private:
  /// Sets the server's name or address that the certificate must have. A name is also sent, so that
  /// a server with several certificates can choose.
  bool expect_server() {
    SSL* const session = stream_.native_handle();
    stream_.set_verify_callback([this](bool accepted, ssl::verify_context& checking) {
      if (!accepted && refusal_.empty()) {
        refusal_ = certificate_failure(checking.native_handle(), server_);
      }
      return accepted;
    });
    X509_VERIFY_PARAM* const rules = ::SSL_get0_param(session);
    // Ignores the common name, according to RFC 9525.
    ::X509_VERIFY_PARAM_set_hostflags(
        rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (settings::is_ip_literal(server_)) {
      return ::X509_VERIFY_PARAM_set1_ip_asc(rules, server_.c_str()) == 1;
    }
    return ::X509_VERIFY_PARAM_set1_host(rules, server_.data(), server_.size()) == 1 &&
           SSL_set_tlsext_host_name(session, server_.c_str()) == 1;
  }

  std::string explain(const boost::system::error_code& error, const char* when) const {
    if (!refusal_.empty()) return refusal_;
    if (error == ssl::error::stream_truncated || error == asio::error::eof) {
      return "the server closed the connection " + std::string(when);
    }
    if (error.category() == asio::error::get_ssl_category()) {
      return tls_failure(static_cast<unsigned long>(error.value()), has_certificate_);
    }
    return error_text(error);
  }

  std::shared_ptr<ssl::context> context_;
  ssl::stream<client_socket> stream_;
  std::string server_;
  bool has_certificate_;
  std::string refusal_;  ///< why the server's certificate is not accepted
};

}  // namespace

std::shared_ptr<byte_stream> make_tls_stream(asio::generic::stream_protocol::socket connected,
                                             std::shared_ptr<ssl::context> with, std::string server,
                                             bool has_certificate) {
  return std::make_shared<tls_stream>(std::move(connected), std::move(with), std::move(server),
                                      has_certificate);
}

}  // namespace tenure::http
