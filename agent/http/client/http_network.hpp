#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "http/client/http_client.hpp"

namespace tenure::http {

/// A client over the network. Everything happens on the executor, which has one thread and whose
/// context must outlive the client and its streams.
std::unique_ptr<http_client> make_http_client(const boost::asio::any_io_executor& where,
                                              settings::endpoint to, tls_settings tls = {},
                                              client_limits limits = {});

/// Makes such clients.
http_connector over_network(boost::asio::any_io_executor where);

}  // namespace tenure::http
