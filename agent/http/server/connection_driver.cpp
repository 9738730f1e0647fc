#include "http/server/connection_driver.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "http/server/server_listener.hpp"
#include "http/server/server_thread.hpp"

namespace tenure::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// The most queued in the kernel for a reader of a stream: pieces there can no longer be skipped.
constexpr int stream_queue_bytes = 16 * 1024;

void keep_queue_short(int socket) {
  // Over TCP, a small buffer would make every piece wait for the acknowledgement of the one before.
  if (::setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &stream_queue_bytes,
                   sizeof stream_queue_bytes) == 0) {
    return;
  }
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &stream_queue_bytes, sizeof stream_queue_bytes);
}

}  // namespace

connection_driver::connection_driver(server_thread& on, server_listener& of, base::unique_fd socket,
                                     std::optional<peer_process> peer, std::string network)
    : on_(on),
      of_(of),
      socket_(on.executor(), protocol(AF_INET, IPPROTO_TCP), socket.release()),
      network_(std::move(network)),
      connection_(of.group, peer, on.loop().now()),
      deadline_(on.loop()) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
}

void connection_driver::start(owner::iterator self) {
  self_ = self;
  follow();
}

// --- what happens ------------------------------------------------------------------------------

core::time_point connection_driver::begin_event() {
  of_.keep_date();
  return on_.loop().now();
}

/// Something was read, or could not be.
void connection_driver::received() {
  // It may have been closed since the read began, or may want no more bytes for now: then they wait
  // until it does.
  if (!connection_.wanted().read) return;
  const core::time_point now = begin_event();
  if (read_error_) {
    connection_.hung_up();
  } else {
    connection_.received({bytes_.data(), std::exchange(unread_, 0)}, now);
  }
  proceed(now);
}

void connection_driver::go_on() {
  const core::time_point now = begin_event();
  connection_.go_on(now);
  proceed(now);
}

void connection_driver::finish() {
  const core::time_point now = begin_event();
  connection_.finish(now);
  proceed(now);
}

void connection_driver::drop() {
  connection_.close();
  follow();
}

void connection_driver::answered() {
  // This may be a late answer to an earlier request of this connection.
  if (!awaits_answer_ || !slot_->settled()) return;
  const core::time_point now = begin_event();
  settle(now);
  proceed(now);
}

// --- what is done ------------------------------------------------------------------------------

void connection_driver::proceed(core::time_point now) {
  while (true) {
    if (const request* const asked = connection_.take_request(now)) {
      ask(*asked, now);
    } else if (!send(now)) {
      break;
    }
  }
  follow();
}

/// True if another call may send more.
bool connection_driver::send(core::time_point now) {
  if (connection_.unsent_bytes() == 0 || connection_.wanted().close) return false;
  const auto parts = connection_.unsent();
  error_code error;
  std::size_t size = 0;
  if (parts[1].empty() && parts[2].empty()) {
    size = socket_.write_some(asio::buffer(parts[0]), error);
  } else {
    const std::array<asio::const_buffer, 3> buffers{asio::buffer(parts[0]), asio::buffer(parts[1]),
                                                    asio::buffer(parts[2])};
    size = socket_.write_some(buffers, error);
  }
  if (error == asio::error::interrupted) return true;
  if (error == asio::error::would_block) {
    connection_.stalled(now);
  } else if (error) {
    connection_.close();
  } else {
    connection_.sent(size, now);
  }
  return !error;
}

void connection_driver::ask(const request& what, core::time_point now) {
  if (slot_ && slot_.use_count() == 1) {
    slot_->reset();
  } else {
    slot_ = std::make_shared<answer_slot>();
  }
  of_.answer(what, responder(slot_));
  if (slot_->settled()) return settle(now);
  awaits_answer_ = true;
  // The loop exists while the slot is open, and a closed slot wakes nobody.
  const bool waits = slot_->await([loop = &on_.loop(), noted = weak_from_this()] {
    loop->post([noted] {
      if (const auto self = noted.lock()) self->answered();
    });
  });
  // The answer has arrived since: nothing will be posted.
  if (!waits) settle(now);
}

void connection_driver::settle(core::time_point now) {
  awaits_answer_ = false;
  connection_.answer(slot_->close(), now);
  if (connection_.is_streaming()) keep_queue_short(socket_.native_handle());
}

/// Does what the connection wants, and waits for the next event.
void connection_driver::follow() {
  if (awaits_answer_ && !connection_.is_answering()) {
    awaits_answer_ = false;
    slot_->close();
  }
  const server_connection::wishes wanted = connection_.wanted();
  if (wanted.close) return close();
  if (wanted.end_send) {
    error_code ignored;  // it may have been shut down before
    socket_.shutdown(stream_socket::shutdown_send, ignored);
  }
  if (wanted.turn) on_.enqueue(*this);
  if (wanted.read) wait_for_bytes();
  if (connection_.unsent_bytes() > 0) {
    wait_for_room();
    of_.bound_unread(*this);
  }
  // Lazily: a deadline that moves to later, as at every answer, is checked when the earlier one is
  // over.
  if (wanted.until < deadline_.when()) {
    deadline_.at(wanted.until, [this] {
      const auto self = shared_from_this();
      const core::time_point now = begin_event();
      connection_.overdue(now);
      proceed(now);
    });
  }
}

void connection_driver::wait_for_bytes() {
  if (std::exchange(awaits_bytes_, true)) return;
  if (unread_ > 0 || read_error_) {
    asio::post(on_.executor(), [self = shared_from_this()] {
      self->awaits_bytes_ = false;
      self->received();
    });
    return;
  }
  socket_.async_read_some(asio::buffer(bytes_),
                          [self = shared_from_this()](const error_code& error, std::size_t size) {
                            self->awaits_bytes_ = false;
                            self->read_error_ = error;
                            self->unread_ = size;
                            self->received();
                          });
}

void connection_driver::wait_for_room() {
  if (std::exchange(awaits_room_, true)) return;
  socket_.async_wait(stream_socket::wait_write, [self = shared_from_this()](const error_code&) {
    self->awaits_room_ = false;
    self->proceed(self->begin_event());
  });
}

void connection_driver::close() {
  if (!socket_.is_open()) return;
  deadline_.cancel();
  error_code ignored;
  // `release` removes the socket from the epoll; Asio's `close` leaves that to the kernel. The
  // kernel would not remove it while a child process has inherited the socket, and events would
  // arrive for a closed connection.
  base::unique_fd(socket_.release(ignored)).reset();
  of_.forget(self_);
}

}  // namespace tenure::http
