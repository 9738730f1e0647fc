#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "http/server/answer.hpp"
#include "http/server/http_server.hpp"
#include "http/server/request_reader.hpp"
#include "http/server/traffic.hpp"

namespace tenure::http {

/// What the connections of one listener share: their limits, and how many there are.
struct connection_group {
  connection_group(const http_limits& granted, traffic& count) : limits(granted), counted(count) {}

  const http_limits limits;
  traffic& counted;
  std::size_t connections = 0;  ///< those that are not readers
  std::size_t readers = 0;      ///< those that are held, or sent a stream
  bool stopping = false;        ///< each answer is the last of its connection
  std::string date;             ///< the present second, in the format of the Date header
  std::uint64_t last_rank = 0;
};

/// One client of an HTTP server, from its first byte to its last: a state machine without a socket.
/// Bytes and instants go in; bytes to send, requests for the handler and wishes come out.
///
/// After each event the driver answers the requests that are there, sends the unsent bytes, and
/// then does what `wanted` says. Not thread-safe.
class server_connection {
 public:
  /// `peer`: the process at the other end, on a Unix socket.
  server_connection(connection_group& of, std::optional<peer_process> peer, core::time_point now);
  ~server_connection();
  server_connection(const server_connection&) = delete;
  server_connection& operator=(const server_connection&) = delete;

  // --- events ---

  /// Bytes have arrived, at least one. Precondition: `wanted().read`.
  void received(std::string_view bytes, core::time_point now);
  /// The client will send nothing more, or the connection has failed.
  void hung_up() { close(); }
  /// This many bytes of `unsent` were sent.
  void sent(std::size_t count, core::time_point now);
  /// The rest of `unsent` must wait until the client reads.
  void stalled(core::time_point now);
  /// The instant `wanted().until` is over.
  void overdue(core::time_point now);
  /// It is this connection's turn. If it is a reader, there may be news for it.
  void go_on(core::time_point now);
  /// The server stops: close as soon as the requests that have begun are done. Set
  /// `connection_group::stopping` first.
  void finish(core::time_point now);
  /// Close at once, to make room for another or because the server stops.
  void close();

  // --- requests ---

  /// The next request for the handler, or nullptr. It stays valid until it is answered; no other
  /// follows before.
  const request* take_request(core::time_point now);
  /// True from `take_request` until the answer, its deadline or the client's disconnect.
  [[nodiscard]] bool is_answering() const { return stage_ == stage::answering; }
  /// The answer to the request that was taken; nothing: there will be none, and the client gets a
  /// 503. Precondition: `is_answering`.
  void answer(std::optional<http::answer> what, core::time_point now);

  // --- what it wants ---

  /// The bytes to send, in this order. They stay valid until the next event.
  [[nodiscard]] std::array<std::string_view, 3> unsent() const;
  [[nodiscard]] std::size_t unsent_bytes() const;

  struct wishes {
    bool read = false;                     ///< read from the client
    bool turn = false;                     ///< continue after others have had their turn
    bool end_send = false;                 ///< shut down the sending side
    bool close = false;                    ///< close the connection; nothing else counts then
    core::time_point until = core::never;  ///< when `overdue` is to be called
  };
  [[nodiscard]] wishes wanted() const;

  // --- for those who choose one ---

  /// What is lost if the connection is closed to make room; the last kind goes first.
  enum class worth : std::uint8_t {
    needed,   ///< not closed: a request that changes something is under way
    at_work,  ///< it has requests to answer
    unread,   ///< its client does not read the answer
    idle,     ///< its client has sent no request, or not all of one
  };
  [[nodiscard]] worth worth_now() const;
  /// Grows whenever the connection starts waiting for a request: the lowest has waited longest.
  [[nodiscard]] std::uint64_t rank() const { return rank_; }
  [[nodiscard]] bool is_reader() const { return held_ || stream_; }
  [[nodiscard]] bool is_streaming() const { return stream_.has_value(); }

 private:
  enum class stage : std::uint8_t {
    waiting,    ///< for the first byte of a request
    reading,    ///< for the rest of it
    asking,     ///< for the driver to take its request
    answering,  ///< for the handler
    held,       ///< for news
    streaming,
    lingering,  ///< for the client to close
    closed,
  };

  void read_request_in(std::string_view bytes, core::time_point now);
  void keep(std::string_view bytes, std::size_t used);
  void give(const response& what);
  void give(held_answer what, core::time_point now);
  void give(streamed_answer what, core::time_point now);
  [[nodiscard]] bool has_place() const;
  void become_reader();
  void leave_readers();
  void send_news(core::time_point now);
  void send_piece(std::shared_ptr<const std::string> text);
  void advance(core::time_point now);

  connection_group& of_;
  const std::optional<peer_process> peer_;
  stage stage_ = stage::waiting;
  std::string in_;            ///< received and not parsed
  std::size_t at_least_ = 1;  ///< parse again once `in_` has this many bytes

  // To send, in this order.
  std::string out_;
  std::shared_ptr<const std::string> piece_;  ///< only in a stream
  std::string tail_;                          ///< after the piece
  std::size_t sent_ = 0;

  std::optional<held_answer> held_;
  std::optional<streamed_answer> stream_;

  // For the request being answered:
  std::optional<request> asked_;
  bool head_ = false;
  bool changes_ = false;  ///< the request may change something
  bool http_1_0_ = false;
  bool last_ = false;  ///< the connection closes after its answer

  std::size_t requests_ = 0;
  std::size_t in_this_turn_ = 0;  ///< requests, or pieces of a stream
  std::size_t dropped_ = 0;       ///< bytes, while lingering
  std::uint64_t rank_ = 0;
  core::time_point until_ = core::never;     ///< when the present stage must be over
  core::time_point write_by_ = core::never;  ///< while the client does not read
};

}  // namespace tenure::http
