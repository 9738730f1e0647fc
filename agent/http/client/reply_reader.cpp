#include "http/client/reply_reader.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/optional/optional.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "core/check.hpp"

namespace tenure::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = boost::beast::http;

/// A string that grows with the bytes received. Beast's own reserves what Content-Length promises,
/// and that is only the server's claim.
struct growing_body {
  using value_type = std::string;

  class reader {
   public:
    template <bool IsRequest, class Fields>
    explicit reader(beast_http::header<IsRequest, Fields>&, value_type& body) : body_(body) {}

    void init(const boost::optional<std::uint64_t>&, beast::error_code& error) { error = {}; }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, beast::error_code& error) {
      error = {};
      std::size_t size = 0;
      for (const asio::const_buffer piece : beast::buffers_range_ref(buffers)) {
        body_.append(static_cast<const char*>(piece.data()), piece.size());
        size += piece.size();
      }
      return size;
    }

    void finish(beast::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

using parser = beast_http::response_parser<growing_body>;

/// The beginning of a TLS handshake or alert record. A server that expects TLS sends one.
bool is_tls_record(std::string_view bytes) {
  return bytes.size() >= 2 && (bytes[0] == 0x15 || bytes[0] == 0x16) && bytes[1] == 0x03;
}

}  // namespace

struct reply_reader::state {
  state(const client_limits& granted, form made, bool without_body)
      : limits(granted), how(made), is_head(without_body) {
    begin();
  }

  void begin() {
    parsing.emplace();
    parsing->eager(true);
    parsing->skip(is_head);
    parsing->header_limit(static_cast<std::uint32_t>(
        std::min<std::size_t>(limits.header_bytes, std::numeric_limits<std::uint32_t>::max())));
    if (how == form::whole) {
      parsing->body_limit(limits.body_bytes);
    } else {
      parsing->body_limit(boost::none);
    }
  }

  [[nodiscard]] bool is_interim() const {
    return parsing->is_header_done() && parsing->get().result_int() / 100 == 1;
  }

  std::string explain(const beast::error_code& error) const {
    if (error == beast_http::error::header_limit) {
      return "the headers of its reply are larger than " + std::to_string(limits.header_bytes) +
             " bytes";
    }
    if (error == beast_http::error::body_limit) {
      return "the body of its reply is larger than " + std::to_string(limits.body_bytes) + " bytes";
    }
    if (error == beast_http::error::end_of_stream)
      return "it closed the connection without a reply";
    if (error == beast_http::error::partial_message) {
      return "it closed the connection in the middle of its reply";
    }
    return "its reply is not HTTP/1.1 (" + error.message() + ")";
  }

  client_limits limits;
  form how;
  bool is_head;
  std::optional<parser> parsing;
  std::string rest;  ///< bytes that the parser cannot use before more arrive
  unsigned interim = 0;
  bool begun = false;  ///< a status line was parsed
};

reply_reader::reply_reader(const client_limits& limits, form how, bool head)
    : state_(std::make_unique<state>(limits, how, head)) {}
reply_reader::~reply_reader() = default;
reply_reader::reply_reader(reply_reader&&) noexcept = default;
reply_reader& reply_reader::operator=(reply_reader&&) noexcept = default;

std::expected<void, std::string> reply_reader::take(std::string_view bytes) {
  state& s = *state_;
  s.rest.append(bytes);
  if (!s.begun && is_tls_record(s.rest)) {
    return std::unexpected("it speaks TLS; write the endpoint with https://");
  }
  while (!s.rest.empty() && !done()) {
    beast::error_code error;
    const std::size_t used = s.parsing->put(asio::buffer(s.rest), error);
    if (error && error != beast_http::error::need_more) return std::unexpected(s.explain(error));
    s.rest.erase(0, used);
    s.begun = s.begun || s.parsing->is_header_done();
    if (s.is_interim()) {
      if (s.parsing->get().result() == beast_http::status::switching_protocols) {
        return std::unexpected("it wants to speak another protocol than HTTP/1.1 (status 101)");
      }
      if (++s.interim > most_interim) {
        return std::unexpected("it sends interim replies (status 1xx) without end");
      }
      s.begin();
    } else if (error == beast_http::error::need_more || used == 0) {
      break;
    }
  }
  // A chunk's line without an end; the parser limits headers itself.
  if (!done() && s.rest.size() > s.limits.header_bytes) {
    return std::unexpected("a line of its reply does not end");
  }
  return {};
}

std::expected<void, std::string> reply_reader::end() {
  if (done()) return {};
  beast::error_code error = beast_http::error::end_of_stream;
  // The parser must not see an end before the first byte.
  if (state_->parsing->got_some()) state_->parsing->put_eof(error);
  if (error) return std::unexpected(state_->explain(error));
  return {};
}

bool reply_reader::has_head() const {
  return state_->parsing->is_header_done() && !state_->is_interim();
}

bool reply_reader::done() const {
  return state_->parsing->is_done() && !state_->is_interim();
}

bool reply_reader::keeps_connection() const {
  TENURE_CHECK(done());
  return state_->rest.empty() && state_->parsing->keep_alive();
}

reply_head reply_reader::head() const {
  TENURE_CHECK(has_head());
  reply_head out{.status = state_->parsing->get().result_int()};
  for (const auto& field : state_->parsing->get()) {
    out.headers.push_back(
        {.name = std::string(field.name_string()), .value = std::string(field.value())});
  }
  return out;
}

std::string reply_reader::take_body() {
  return std::exchange(state_->parsing->get().body(), {});
}

}  // namespace tenure::http
