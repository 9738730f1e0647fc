#pragma once

#include <boost/asio/buffer.hpp>
#include <string>

namespace tenure::http {

/// Appends all bytes of a sequence of buffers, as Boost.Beast makes it for a socket.
template <class Buffers>
void append_buffers(std::string& to, const Buffers& buffers) {
  const auto end = boost::asio::buffer_sequence_end(buffers);
  for (auto at = boost::asio::buffer_sequence_begin(buffers); at != end; ++at) {
    const boost::asio::const_buffer piece = *at;
    to.append(static_cast<const char*>(piece.data()), piece.size());
  }
}

}  // namespace tenure::http
