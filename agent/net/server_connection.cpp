#include "net/server_connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "core/check.hpp"
#include "net/response_text.hpp"
#include "net/server_loop.hpp"

namespace tenure::net {
namespace {

/// After the last answer the client's remaining bytes are read and dropped for this long, up to
/// this many: closing with unread bytes makes the kernel send a reset, and the client may then
/// never see the answer.
constexpr std::chrono::milliseconds linger_limit{1'000};
constexpr std::size_t linger_bytes = 64 * 1024;
/// Of one client's pipelined requests, before it is the others' turn.
constexpr std::size_t most_requests_at_once = 16;
/// Answers that wait to be sent together; with more, the client has to read first.
constexpr std::size_t enough_to_send = 64 * 1024;
/// What a connection keeps of its buffer once everything was sent.
constexpr std::size_t kept_buffer_bytes = 4 * 1024;
constexpr rejection no_answer{.status = 503,
                              .code = "no_answer",
                              .message = "the agent did not come to an answer in time",
                              .action = "try again; see the agent's log if this lasts"};
}  // namespace

server_connection::server_connection(server_loop& loop, server_listener& of, os::unique_fd socket,
                                     std::optional<peer_process> peer, std::string network)
    : loop_(loop), of_(of), socket_(std::move(socket)), peer_(peer), network_(std::move(network)) {
  of_.counted.opened();
}

server_connection::~server_connection() {
  of_.counted.closed();
}

void server_connection::begin(std::list<server_connection>::iterator self) {
  self_ = self;
  until_ = loop_.now() + of_.limits.idle;
  interest_ = EPOLLIN;
  loop_.watch(socket_.get(), interest_, *this);
  set_deadline(until_);
}

server_connection::worth server_connection::worth_now() const {
  if (stage_ == stage::answering) return changes_ ? worth::needed : worth::at_work;
  if (!out_.empty()) return worth::unread;
  return queued_ ? worth::at_work : worth::idle;
}

// --- what happens ------------------------------------------------------------------------------

void server_connection::ready(std::uint32_t events) {
  if (stage_ == stage::closed) return;
  // Half a connection is enough to send an answer that is about to come; whoever waits for long is
  // taken to have gone.
  const bool gone = (events & (EPOLLERR | EPOLLHUP)) != 0 || (events & EPOLLRDHUP) != 0;
  if (gone) return close();
  if ((events & EPOLLOUT) != 0) return advance();
  if ((events & EPOLLIN) != 0) receive();
}

void server_connection::receive() {
  const std::span<char> room = loop_.scratch();
  const ssize_t size = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return close();
  const std::string_view came(room.data(), static_cast<std::size_t>(size));
  if (stage_ == stage::lingering) {
    dropped_ += came.size();
    if (dropped_ > linger_bytes) close();
    return;
  }
  if (in_.empty()) {
    keep(came, read_requests(came));
  } else {
    in_.append(came);
    keep(in_, read_requests(in_));
  }
  advance();
}

void server_connection::overdue() {
  const core::time_point now = loop_.now();
  if (write_by_ <= now) return close();
  switch (stage_) {
    case stage::waiting:
    case stage::reading:
    case stage::lingering:
      return close();
    case stage::answering:
      settle();
      break;
    case stage::held: {
      auto given = held_->ready(occasion::last);
      TENURE_CHECK(given.has_value());
      leave_readers();
      give(*given);
      break;
    }
    case stage::streaming:
      until_ = now + stream_->idle;
      if (out_.empty()) send_piece(stream_->idle_text);
      break;
    case stage::closed:
      return;
  }
  advance();
}

void server_connection::answered() {
  // What has come may have been for an earlier request of this connection, and too late.
  if (stage_ != stage::answering || !slot_->settled()) return;
  settle();
  advance();
}

void server_connection::look_around() {
  if (stage_ == stage::held || stage_ == stage::streaming) loop_.enqueue(*this);
}

void server_connection::go_on() {
  if (stage_ == stage::held) {
    if (auto given = held_->ready(occasion::news)) {
      leave_readers();
      give(*given);
    }
  } else if (stage_ == stage::waiting) {
    keep(in_, read_requests(in_));
  }
  advance();
}

void server_connection::finish() {
  switch (stage_) {
    case stage::reading:
    case stage::answering:
    case stage::closed:
      return;
    case stage::waiting:
      if (out_.empty() && in_.empty()) close();
      return;
    case stage::lingering:
      return close();
    case stage::held:
      until_ = loop_.now();
      return overdue();
    case stage::streaming:
      if (!http_1_0_) out_.append(last_chunk);
      leave_readers();
      last_ = true;
      return advance();
  }
}

void server_connection::close() {
  if (stage_ == stage::closed) return;
  const bool is_reader = stage_ == stage::held || stage_ == stage::streaming;
  if (stage_ == stage::answering) {
    loop_.forget_answer(number_);
    slot_->close();
  }
  stage_ = stage::closed;
  clear_deadline();
  loop_.dequeue(*this);
  held_.reset();
  stream_.reset();
  loop_.unwatch(socket_.get());
  socket_.reset();
  loop_.retire(is_reader ? of_.readers : of_.connections, *this);
}

// --- requests ----------------------------------------------------------------------------------

/// Answers as many as are complete, in their order. Returns how many bytes they had.
std::size_t server_connection::read_requests(std::string_view bytes) {
  const request_limits limits{.header_bytes = of_.limits.header_bytes,
                              .body_bytes = of_.limits.body_bytes};
  std::size_t used = 0;
  for (std::size_t count = 0; count < most_requests_at_once && out_.size() < enough_to_send;
       ++count) {
    const bool wants_more = stage_ == stage::waiting || stage_ == stage::reading;
    if (!wants_more || last_ || used == bytes.size()) break;
    read_result next = read_request(bytes.substr(used), limits);
    if (std::holds_alternative<incomplete>(next)) {
      if (stage_ == stage::waiting) until_ = loop_.now() + of_.limits.read;
      stage_ = stage::reading;
      break;
    }
    stage_ = stage::waiting;
    if (const auto* why = std::get_if<rejection>(&next)) {
      head_ = false;
      last_ = true;
      give(to_response(*why));
      break;
    }
    auto& asked = std::get<received_request>(next);
    used += asked.size;
    ask(std::move(asked));
  }
  return used;
}

/// Keeps what was not read. `bytes` may be all of `in_`.
void server_connection::keep(std::string_view bytes, std::size_t used) {
  if (used == bytes.size()) {
    std::string().swap(in_);
  } else if (bytes.data() == in_.data()) {
    in_.erase(0, used);
  } else {
    in_.assign(bytes.substr(used));
  }
}

void server_connection::ask(received_request asked) {
  head_ = asked.head;
  changes_ = asked.what.method != "GET" && !asked.head;
  http_1_0_ = asked.http_1_0;
  last_ = asked.last;
  asked.what.peer = peer_;
  if (slot_ && slot_.use_count() == 1) {
    slot_->reset();
  } else {
    slot_ = std::make_shared<answer_slot>();
  }
  stage_ = stage::answering;
  of_.answer(asked.what, responder(slot_));
  if (slot_->settled()) return settle();
  number_ = loop_.next_number();
  loop_.await_answer(number_, *this);
  until_ = loop_.now() + of_.limits.answer;
  // Otherwise it has come in this very moment, and nobody will say so.
  if (!slot_->await([box = loop_.box(), number = number_] { box->answered(number); })) settle();
}

/// Takes the answer, or does without it.
void server_connection::settle() {
  if (number_ != 0) loop_.forget_answer(std::exchange(number_, 0));
  auto given = slot_->close();
  stage_ = stage::waiting;
  if (!given) return give(to_response(no_answer));
  std::visit([this](auto& what) { give(std::move(what)); }, *given);
}

// --- sending -----------------------------------------------------------------------------------

/// True if everything was sent and the connection is still there.
bool server_connection::flush() {
  while (sent_ < out_.size()) {
    const ssize_t size = ::send(socket_.get(), out_.data() + sent_, out_.size() - sent_,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      if (write_by_ == core::never) write_by_ = loop_.now() + of_.limits.write;
      return false;
    }
    if (size < 0) {
      close();
      return false;
    }
    sent_ += static_cast<std::size_t>(size);
    // A stream lasts as long as its reader takes something; one answer has to come to an end.
    if (stage_ == stage::streaming) write_by_ = core::never;
  }
  write_by_ = core::never;
  sent_ = 0;
  out_.clear();
  if (out_.capacity() > kept_buffer_bytes) std::string().swap(out_);
  return true;
}

/// Does what can be done now, and then waits for what comes next.
void server_connection::advance() {
  if (stage_ == stage::closed) return;
  if (flush()) {
    if (stage_ == stage::streaming) send_news();
    if (stage_ == stage::waiting && last_) return linger();
    if (stage_ == stage::waiting && in_.empty()) {
      if (loop_.stopping()) return close();
      until_ = loop_.now() + of_.limits.idle;
      of_.connections.splice(of_.connections.end(), of_.connections, self_);
    } else if (stage_ == stage::waiting) {
      loop_.enqueue(*this);
    }
  }
  if (stage_ == stage::streaming && !out_.empty() && write_by_ == core::never) {
    write_by_ = loop_.now() + of_.limits.write;
  }
  plan();
}

void server_connection::linger() {
  if (loop_.stopping()) return close();
  std::string().swap(in_);
  stage_ = stage::lingering;
  until_ = loop_.now() + linger_limit;
  ::shutdown(socket_.get(), SHUT_WR);
  plan();
}

/// Tells the loop what it waits for.
void server_connection::plan() {
  if (stage_ == stage::closed) return;
  std::uint32_t events = 0;
  const bool is_reader = stage_ == stage::held || stage_ == stage::streaming;
  if (!out_.empty()) {
    events = EPOLLOUT;
  } else if (stage_ == stage::reading || stage_ == stage::lingering ||
             (stage_ == stage::waiting && in_.empty())) {
    events = EPOLLIN;
  }
  if (is_reader) events |= EPOLLRDHUP;
  if (events != interest_) loop_.change(socket_.get(), interest_ = events, *this);
  set_deadline(due());
}

/// Lazily: one that is moved to later, as at every answer, is looked at again when the earlier one
/// comes.
void server_connection::set_deadline(core::time_point when) {
  auto& all = loop_.all_deadlines();
  if (!deadline_) {
    deadline_ = all.emplace(when, this);
  } else if (when < (*deadline_)->first) {
    auto node = all.extract(*deadline_);
    node.key() = when;
    deadline_ = all.insert(std::move(node));
  }
}

void server_connection::look_again_at(core::time_point when) {
  if (stage_ == stage::closed) return;
  clear_deadline();
  set_deadline(when);
}

void server_connection::clear_deadline() {
  if (deadline_) loop_.all_deadlines().erase(*deadline_);
  deadline_.reset();
}

}  // namespace tenure::net
