#include "servers/secure_http.hpp"

#include <boost/asio/io_context.hpp>
#include <expected>
#include <utility>
#include <vector>

#include "base/boot_time.hpp"
#include "http/client/http_network.hpp"
#include "servers/server_process.hpp"

namespace tenure::servers {
namespace {

/// A client and the loop that it runs on, for as long as somebody waits.
struct line {
  explicit line(const secure_caller& as)
      : client(http::make_http_client(io.get_executor(),
                                      {.tls = true, .host = "127.0.0.1", .port = as.port},
                                      {.ca_file = as.ca_file})) {}

  bool run_until(const std::function<bool()>& condition, std::chrono::milliseconds at_most) {
    const core::time_point limit = base::boot_now() + at_most;
    while (!condition()) {
      const auto left = limit - base::boot_now();
      if (left.count() <= 0) return false;
      io.restart();
      io.run_one_for(left);
    }
    return true;
  }

  boost::asio::io_context io{1};
  std::unique_ptr<http::http_client> client;
};

std::vector<http::header> headers_of(const secure_caller& as) {
  if (as.token.empty()) return {};
  return {{.name = "Authorization", .value = "Bearer " + as.token}};
}

}  // namespace

secure_answer ask_securely(const secure_caller& as, std::string_view method,
                           std::string_view target, std::string_view body,
                           std::string_view content_type, std::chrono::milliseconds at_most) {
  std::vector<http::header> headers = headers_of(as);
  headers.push_back({.name = "Content-Type", .value = std::string(content_type)});
  std::optional<std::expected<http::client_reply, http::client_error>> come;
  line to(as);
  to.client->send({.method = std::string(method),
                   .target = std::string(target),
                   .headers = std::move(headers),
                   .body = std::string(body)},
                  base::boot_now() + at_most, [&come](auto what) { come = std::move(what); });
  // The client calls back by the deadline.
  to.run_until([&come] { return come.has_value(); }, at_most + patience);
  if (!come) return {.why = "the client does not call back"};
  if (!*come) return {.why = come->error().text};
  secure_answer out{.status = static_cast<int>((*come)->status), .body = std::move((*come)->body)};
  for (const http::header& one : (*come)->headers) out.head += one.name + ": " + one.value + "\r\n";
  return out;
}

struct secure_stream::parts {
  explicit parts(const secure_caller& as) : to(as) {}

  line to;
  int status = 0;
  std::string body;
  bool ended = false;
  std::unique_ptr<http::http_stream> stream;
};

secure_stream::secure_stream(const secure_caller& as, std::string_view target)
    : parts_(std::make_unique<parts>(as)) {
  parts* into = parts_.get();
  into->stream = into->to.client->stream(
      {.method = "GET", .target = std::string(target), .headers = headers_of(as)},
      base::boot_now() + patience,
      {.head =
           [into](const http::reply_head& head) { into->status = static_cast<int>(head.status); },
       .data = [into](std::string_view more) { into->body += more; },
       .ended = [into](const std::optional<http::client_error>&) { into->ended = true; }});
}

secure_stream::~secure_stream() = default;

bool secure_stream::read_until(const std::function<bool(std::string_view)>& enough,
                               std::chrono::milliseconds at_most) {
  parts_->to.run_until([&] { return enough(parts_->body) || parts_->ended; }, at_most);
  return enough(parts_->body);
}

int secure_stream::status() const {
  return parts_->status;
}

const std::string& secure_stream::body() const {
  return parts_->body;
}

bool secure_stream::ended() const {
  return parts_->ended;
}

}  // namespace tenure::servers
