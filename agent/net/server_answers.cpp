#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "net/response_text.hpp"
#include "net/server_connection.hpp"
#include "net/server_loop.hpp"

/// The part of a connection that is about answers: at once, held back, or without an end.
namespace tenure::net {
namespace {

/// Of one stream, before it is the others' turn.
constexpr std::size_t most_pieces_at_once = 16;
/// What may be queued on this side for a reader of a stream: it is too late to leave that out.
constexpr int stream_queue_bytes = 16 * 1024;

constexpr rejection too_many_readers{
    .status = 503,
    .code = "too_many_readers",
    .message = "as many clients wait for news of this listener as it serves",
    .action = "close those that are not needed, or ask without waiting"};

void keep_queue_short(int socket) {
  // Over TCP a small buffer would have every piece wait for the acknowledgement of the one before.
  if (::setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &stream_queue_bytes,
                   sizeof stream_queue_bytes) == 0) {
    return;
  }
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &stream_queue_bytes, sizeof stream_queue_bytes);
}

}  // namespace

void server_connection::give(const response& what) {
  last_ = last_ || loop_.stopping() || ++requests_ >= of_.limits.requests_per_connection;
  of_.counted.answered(what.status);
  append_response(out_, what, {.head = head_, .last = last_}, loop_.date());
  of_.bound_unread(*this);
}

void server_connection::give(held_answer what) {
  if (auto now = what.ready(loop_.stopping() ? occasion::last : occasion::news)) return give(*now);
  if (!has_place()) return give(to_response(too_many_readers));
  until_ = loop_.now() + what.limit;
  held_ = std::move(what);
  stage_ = stage::held;
  of_.readers.splice(of_.readers.end(), of_.connections, self_);
}

void server_connection::give(streamed_answer what) {
  if (!has_place() || loop_.stopping()) return give(to_response(too_many_readers));
  const body_end ends = http_1_0_ ? body_end::by_close : body_end::by_last_chunk;
  last_ = true;
  of_.counted.answered(what.head.status);
  append_response(out_, what.head, {.head = head_, .last = true, .ends = ends}, loop_.date());
  if (head_) return;
  keep_queue_short(socket_.get());
  until_ = loop_.now() + what.idle;
  stream_ = std::move(what);
  stage_ = stage::streaming;
  of_.readers.splice(of_.readers.end(), of_.connections, self_);
}

bool server_connection::has_place() const {
  return of_.readers.size() < of_.limits.readers;
}

void server_connection::leave_readers() {
  held_.reset();
  stream_.reset();
  stage_ = stage::waiting;
  // Its place may have been taken meanwhile.
  last_ = last_ || of_.connections.size() >= of_.limits.connections;
  of_.connections.splice(of_.connections.end(), of_.readers, self_);
}

void server_connection::send_news() {
  for (std::size_t count = 0; out_.empty() && stage_ == stage::streaming; ++count) {
    if (count == most_pieces_at_once) return loop_.enqueue(*this);
    const auto text = stream_->next();
    if (!text) return;
    until_ = loop_.now() + stream_->idle;
    send_piece(*text);
  }
}

/// Sends a piece of a stream; what the socket does not take is kept. Precondition: nothing is.
void server_connection::send_piece(const std::string& text) {
  const std::string size = http_1_0_ ? std::string() : chunk_head(text.size());
  const std::string_view end = http_1_0_ ? std::string_view() : chunk_end;
  const std::array<std::string_view, 3> parts{size, text, end};
  std::array<iovec, 3> vectors{};
  std::ranges::transform(parts, vectors.begin(), [](std::string_view part) {
    return iovec{.iov_base = const_cast<char*>(part.data()), .iov_len = part.size()};
  });
  msghdr all{};
  all.msg_iov = vectors.data();
  all.msg_iovlen = vectors.size();
  const ssize_t result = ::sendmsg(socket_.get(), &all, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (result < 0 && errno != EAGAIN && errno != EINTR) return close();
  std::size_t taken = result < 0 ? 0 : static_cast<std::size_t>(result);
  for (const std::string_view part : parts) {
    const std::size_t of_this = std::min(taken, part.size());
    taken -= of_this;
    out_.append(part.substr(of_this));
  }
}

}  // namespace tenure::net
