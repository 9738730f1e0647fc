#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <memory>
#include <string>

#include "http/client/byte_stream.hpp"

namespace boost::asio::ssl {
class context;
}

namespace tenure::http {

/// TLS over a connected socket. `server` is the name or IP address that the server's certificate
/// must have; `has_certificate`: the client has one of its own, for the texts of errors.
std::shared_ptr<byte_stream> make_tls_stream(
    boost::asio::generic::stream_protocol::socket connected,
    std::shared_ptr<boost::asio::ssl::context> with, std::string server, bool has_certificate);

}  // namespace tenure::http
