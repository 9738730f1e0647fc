#include "http/chunk_text.hpp"

#include <boost/beast/http/chunk_encode.hpp>

#include "http/message_text.hpp"

namespace tenure::http {
namespace {

namespace beast_http = boost::beast::http;

template <class Buffers>
std::string text_of(const Buffers& buffers) {
  std::string out;
  append_buffers(out, buffers);
  return out;
}

}  // namespace

std::string chunk_text(std::string_view bytes) {
  if (bytes.empty()) return {};
  return text_of(beast_http::make_chunk(boost::asio::buffer(bytes)));
}

std::string chunk_head(std::size_t size) {
  return text_of(beast_http::chunk_header(size));
}

std::string chunk_end() {
  return text_of(beast_http::chunk_crlf());
}

std::string last_chunk() {
  return text_of(beast_http::make_chunk_last());
}

}  // namespace tenure::http
