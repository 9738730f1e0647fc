#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_message.hpp"

/// Decides who may use the API. It listens on loopback, but a browser on the same machine runs code
/// of strangers: a page whose name resolves to 127.0.0.1 (DNS rebinding) still sends its own name
/// as Host, and a page of another origin is named in Origin.
namespace tenure::api {

/// True for a Host header that names this machine: localhost and names below it, any IP literal,
/// and `further`, each with or without a port. An IP literal is safe: a page loaded from it came
/// from that address.
bool names_this_machine(std::string_view host, const std::vector<std::string>& further);

/// True if `origin` ("http://localhost:4040") is the same host and port as `host`.
bool same_origin(std::string_view origin, std::string_view host);

/// Why this request is refused; nothing if it is allowed.
std::optional<http::response> refusal(const http::request& asked,
                                      const std::vector<std::string>& further);

/// Who may give orders, besides root and the agent's user on its Unix socket.
struct control_access {
  std::string token_file{};  ///< empty: nobody over TCP
};

/// Why this client may not give orders; nothing if it may. Reads the token file.
std::optional<http::response> order_refusal(const http::request& asked, const control_access& who);

}  // namespace tenure::api
