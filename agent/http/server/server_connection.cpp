#include "http/server/server_connection.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/check.hpp"
#include "http/chunk_text.hpp"
#include "http/server/response_text.hpp"

namespace tenure::http {
namespace {

/// After the last answer, the client's remaining bytes are read and dropped for this long, up to
/// this many. Closing with unread bytes makes the kernel send a reset, and the client might never
/// see the answer.
constexpr std::chrono::milliseconds linger_limit{1'000};
constexpr std::size_t linger_bytes = 64 * 1024;
/// The most pipelined requests of a client, or pieces of a stream, before others have their turn.
constexpr std::size_t most_in_a_turn = 16;
/// Answers are collected up to this size; beyond it, the client has to read first.
constexpr std::size_t enough_to_send = 64 * 1024;
/// How much a client may send ahead while its answer is held back. With more it has to wait, and a
/// disconnect is no longer noticed.
constexpr std::size_t most_ahead = 16 * 1024;
/// The buffer space that a connection keeps once everything was sent.
constexpr std::size_t kept_buffer_bytes = 4 * 1024;
constexpr rejection no_answer{.status = 503,
                              .code = "no_answer",
                              .message = "the agent did not answer in time",
                              .action = "try again; see the agent's log if this lasts"};
constexpr rejection too_many_readers{
    .status = 503,
    .code = "too_many_readers",
    .message = "as many clients wait for news of this listener as it serves",
    .action = "close those that are not needed, or ask without waiting"};

}  // namespace

server_connection::server_connection(connection_group& of, std::optional<peer_process> peer,
                                     core::time_point now)
    : of_(of), peer_(peer), rank_(++of.last_rank), until_(now + of.limits.idle) {
  ++of_.connections;
  of_.counted.opened();
}

server_connection::~server_connection() {
  close();
}

// --- events ------------------------------------------------------------------------------------

void server_connection::received(std::string_view bytes, core::time_point now) {
  TENURE_CHECK(wanted().read);
  switch (stage_) {
    case stage::waiting:
    case stage::reading:
      in_this_turn_ = 0;
      if (in_.empty()) {
        read_request_in(bytes, now);
      } else {
        in_.append(bytes);
        read_request_in(in_, now);
      }
      return advance(now);
    case stage::held:
      in_.append(bytes);
      return;
    case stage::lingering:
      dropped_ += bytes.size();
      if (dropped_ > linger_bytes) close();
      return;
    case stage::streaming:  // it is the connection's last answer
    case stage::asking:
    case stage::answering:
    case stage::closed:
      return;
  }
}

void server_connection::sent(std::size_t count, core::time_point now) {
  TENURE_CHECK(count <= unsent_bytes());
  sent_ += count;
  // A stream lasts as long as its reader reads; an answer must come to an end.
  if (stage_ == stage::streaming) write_by_ = core::never;
  if (unsent_bytes() > 0) return;
  write_by_ = core::never;
  sent_ = 0;
  out_.clear();
  if (out_.capacity() > kept_buffer_bytes) std::string().swap(out_);
  piece_.reset();
  tail_.clear();
  advance(now);
}

void server_connection::stalled(core::time_point now) {
  if (write_by_ == core::never) write_by_ = now + of_.limits.write;
}

void server_connection::overdue(core::time_point now) {
  if (write_by_ <= now) return close();
  if (until_ > now) return;
  switch (stage_) {
    case stage::waiting:
    case stage::reading:
    case stage::lingering:
      return close();
    case stage::asking:
    case stage::answering:
      stage_ = stage::answering;
      return answer(std::nullopt, now);
    case stage::held: {
      auto given = held_->ready(occasion::last);
      TENURE_CHECK(given.has_value());
      leave_readers();
      give(*given);
      break;
    }
    case stage::streaming:
      until_ = now + stream_->idle;
      if (unsent_bytes() == 0) send_piece(std::make_shared<const std::string>(stream_->idle_text));
      break;
    case stage::closed:
      return;
  }
  advance(now);
}

void server_connection::go_on(core::time_point now) {
  in_this_turn_ = 0;
  if (stage_ == stage::held) {
    auto given = held_->ready(occasion::news);
    if (!given) return;
    leave_readers();
    give(*given);
  }
  if (is_reader() || !in_.empty()) advance(now);
}

void server_connection::finish(core::time_point now) {
  switch (stage_) {
    case stage::reading:
    case stage::asking:
    case stage::answering:
    case stage::closed:
      return;
    case stage::waiting:
      if (unsent_bytes() == 0 && in_.empty()) close();
      return;
    case stage::lingering:
      return close();
    case stage::held:
      until_ = now;
      return overdue(now);
    case stage::streaming:
      // Behind the piece that is being sent, if there is one.
      if (!http_1_0_) (piece_ ? tail_ : out_) += last_chunk();
      leave_readers();
      last_ = true;
      return advance(now);
  }
}

void server_connection::close() {
  if (stage_ == stage::closed) return;
  --(is_reader() ? of_.readers : of_.connections);
  of_.counted.closed();
  stage_ = stage::closed;
  held_.reset();
  stream_.reset();
}

// --- requests ----------------------------------------------------------------------------------

/// Reads one request, and keeps the remaining bytes. `bytes` may be all of `in_`.
void server_connection::read_request_in(std::string_view bytes, core::time_point now) {
  if (bytes.size() < at_least_) return keep(bytes, 0);
  const request_limits limits{.header_bytes = of_.limits.header_bytes,
                              .body_bytes = of_.limits.body_bytes};
  read_result next = read_request(bytes, limits);
  if (const auto* part = std::get_if<incomplete>(&next)) {
    if (stage_ == stage::waiting) until_ = now + of_.limits.read;
    stage_ = stage::reading;
    at_least_ = part->at_least;
    return keep(bytes, 0);
  }
  at_least_ = 1;
  if (const auto* why = std::get_if<rejection>(&next)) {
    stage_ = stage::waiting;
    head_ = false;
    last_ = true;
    std::string().swap(in_);
    return give(to_response(*why));
  }
  auto& asked = std::get<received_request>(next);
  keep(bytes, asked.size);
  ++in_this_turn_;
  head_ = asked.head;
  changes_ = asked.what.method != "GET" && !asked.head;
  http_1_0_ = asked.http_1_0;
  last_ = asked.last;
  asked_ = std::move(asked.what);
  asked_->peer = peer_;
  stage_ = stage::asking;
}

void server_connection::keep(std::string_view bytes, std::size_t used) {
  if (used == bytes.size()) {
    std::string().swap(in_);
  } else if (bytes.data() == in_.data()) {
    in_.erase(0, used);
  } else {
    in_.assign(bytes.substr(used));
  }
}

const request* server_connection::take_request(core::time_point now) {
  if (stage_ != stage::asking) return nullptr;
  stage_ = stage::answering;
  until_ = now + of_.limits.answer;
  return &*asked_;
}

void server_connection::answer(std::optional<http::answer> what, core::time_point now) {
  TENURE_CHECK(is_answering());
  stage_ = stage::waiting;
  asked_.reset();
  if (!what) {
    give(to_response(no_answer));
  } else if (auto* held = std::get_if<held_answer>(&*what)) {
    give(std::move(*held), now);
  } else if (auto* stream = std::get_if<streamed_answer>(&*what)) {
    give(std::move(*stream), now);
  } else {
    give(std::get<response>(*what));
  }
  // Further answers are sent together with this one.
  const bool goes_on = stage_ == stage::waiting && !last_ && !in_.empty();
  if (goes_on && in_this_turn_ < most_in_a_turn && out_.size() < enough_to_send) {
    read_request_in(in_, now);
  }
  advance(now);
}

void server_connection::give(const response& what) {
  until_ = core::never;  // the deadline of its sending is `write_by_`
  last_ = last_ || of_.stopping || ++requests_ >= of_.limits.requests_per_connection;
  of_.counted.answered(what.status);
  append_response(out_, what, {.head = head_, .last = last_}, of_.date);
}

void server_connection::give(held_answer what, core::time_point now) {
  if (auto given = what.ready(of_.stopping ? occasion::last : occasion::news)) return give(*given);
  if (!has_place()) return give(to_response(too_many_readers));
  until_ = now + what.limit;
  held_ = std::move(what);
  stage_ = stage::held;
  become_reader();
}

void server_connection::give(streamed_answer what, core::time_point now) {
  if (!has_place() || of_.stopping) return give(to_response(too_many_readers));
  const body_end ends = http_1_0_ ? body_end::by_close : body_end::by_last_chunk;
  last_ = true;
  of_.counted.answered(what.head.status);
  append_response(out_, what.head, {.head = head_, .last = true, .ends = ends}, of_.date);
  if (head_) return;
  std::string().swap(in_);
  until_ = now + what.idle;
  stream_ = std::move(what);
  stage_ = stage::streaming;
  become_reader();
}

// --- readers -----------------------------------------------------------------------------------

bool server_connection::has_place() const {
  return of_.readers < of_.limits.readers;
}

void server_connection::become_reader() {
  --of_.connections;
  ++of_.readers;
}

void server_connection::leave_readers() {
  held_.reset();
  stream_.reset();
  stage_ = stage::waiting;
  // Another connection may have taken its place meanwhile.
  last_ = last_ || of_.connections >= of_.limits.connections;
  --of_.readers;
  ++of_.connections;
}

/// Precondition: everything before is sent.
void server_connection::send_news(core::time_point now) {
  if (in_this_turn_ >= most_in_a_turn) return;
  auto text = stream_->next();
  if (!text) return;
  ++in_this_turn_;
  until_ = now + stream_->idle;
  send_piece(std::move(text));
}

void server_connection::send_piece(std::shared_ptr<const std::string> text) {
  if (text->empty()) return;
  if (!http_1_0_) {
    out_ += chunk_head(text->size());
    tail_ = chunk_end();
  }
  piece_ = std::move(text);
}

// --- what it wants -----------------------------------------------------------------------------

/// Decides what to do once nothing is left to send.
void server_connection::advance(core::time_point now) {
  if (unsent_bytes() > 0) return;
  if (stage_ == stage::streaming) return send_news(now);
  if (stage_ != stage::waiting) return;
  if (last_) {
    if (of_.stopping) return close();
    std::string().swap(in_);
    stage_ = stage::lingering;
    until_ = now + linger_limit;
  } else if (!in_.empty()) {
    if (in_this_turn_ < most_in_a_turn) read_request_in(in_, now);
  } else {
    if (of_.stopping) return close();
    until_ = now + of_.limits.idle;
    rank_ = ++of_.last_rank;
  }
}

std::array<std::string_view, 3> server_connection::unsent() const {
  std::array<std::string_view, 3> out{out_, piece_ ? std::string_view(*piece_) : "", tail_};
  std::size_t skipped = sent_;
  for (std::string_view& part : out) {
    const std::size_t of_this = std::min(skipped, part.size());
    part.remove_prefix(of_this);
    skipped -= of_this;
  }
  return out;
}

std::size_t server_connection::unsent_bytes() const {
  return out_.size() + (piece_ ? piece_->size() : 0) + tail_.size() - sent_;
}

server_connection::wishes server_connection::wanted() const {
  wishes out{.until = std::min(until_, write_by_)};
  const bool all_sent = unsent_bytes() == 0;
  switch (stage_) {
    case stage::waiting:
      out.read = all_sent && in_.empty();
      out.turn = all_sent && !in_.empty();
      break;
    case stage::reading:
      out.read = all_sent;
      break;
    case stage::asking:
    case stage::answering:
      break;
    case stage::held:
      // To notice that the client disconnects.
      out.read = in_.size() < most_ahead;
      break;
    case stage::streaming:
      out.read = true;
      out.turn = all_sent && in_this_turn_ >= most_in_a_turn;
      break;
    case stage::lingering:
      out.read = true;
      out.end_send = true;
      break;
    case stage::closed:
      out.close = true;
      break;
  }
  return out;
}

server_connection::worth server_connection::worth_now() const {
  if (stage_ == stage::asking || stage_ == stage::answering) {
    return changes_ ? worth::needed : worth::at_work;
  }
  if (unsent_bytes() > 0) return worth::unread;
  return wanted().turn ? worth::at_work : worth::idle;
}

}  // namespace tenure::http
