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

/// What the connections of one listener share: what they are granted, and how many there are.
struct connection_group {
  connection_group(const http_limits& granted, traffic& count) : limits(granted), counted(count) {}

  const http_limits limits;
  traffic& counted;
  std::size_t connections = 0;  ///< those that are not readers
  std::size_t readers = 0;      ///< those that are held, or sent a stream
  bool stopping = false;        ///< each answer is the last of its connection
  std::string date;             ///< of the present second, as the Date header has it
  std::uint64_t last_rank = 0;
};

/// One client of an HTTP server, from its first byte to its last: a state machine without a socket.
/// Bytes and instants go in; bytes to send, requests for the handler and wishes come out.
///
/// After each event the driver takes the requests that are there and answers them, sends what is
/// to be sent, and then does as `wanted` says. Not thread-safe.
class server_connection {
 public:
  /// `peer`: who it is, on a Unix socket.
  server_connection(connection_group& of, std::optional<peer_process> peer, core::time_point now);
  ~server_connection();
  server_connection(const server_connection&) = delete;
  server_connection& operator=(const server_connection&) = delete;

  // --- events ---

  /// Bytes have come, at least one. Precondition: `wanted().read`.
  void received(std::string_view bytes, core::time_point now);
  /// The client will send nothing more, or the connection has failed.
  void hung_up() { close(); }
  /// So many bytes of `unsent` are on their way.
  void sent(std::size_t count, core::time_point now);
  /// The rest of `unsent` has to wait until the client reads.
  void stalled(core::time_point now);
  /// The instant `wanted().until` has come.
  void overdue(core::time_point now);
  /// Its turn to work has come. If it is a reader, there may be news for it.
  void go_on(core::time_point now);
  /// The server ends: ends as soon as what the client has begun is done.
  /// `connection_group::stopping` is set before.
  void finish(core::time_point now);
  /// Ends at once, for the sake of another or of the server's end.
  void close();

  // --- requests ---

  /// The next request, which the handler is to answer, or nullptr. No other follows before it is
  /// answered; it is there until then.
  const request* take_request(core::time_point now);
  /// True from `take_request` until the answer is given, its time is over or the client has gone.
  [[nodiscard]] bool is_answering() const { return stage_ == stage::answering; }
  /// The answer to the request that was taken; nothing: there will be none, and the client gets a
  /// 503. Precondition: `is_answering`.
  void answer(std::optional<http::answer> what, core::time_point now);

  // --- what it wants ---

  /// Bytes to be sent, in this order. They stay where they are until the next event.
  [[nodiscard]] std::array<std::string_view, 3> unsent() const;
  [[nodiscard]] std::size_t unsent_bytes() const;

  struct wishes {
    bool read = false;      ///< to hear what comes from the client
    bool turn = false;      ///< to go on after others had their turn
    bool end_send = false;  ///< that the client is told that nothing more comes
    bool close = false;     ///< that the connection is closed; nothing else counts then
    core::time_point until = core::never;  ///< when `overdue` is to be called
  };
  [[nodiscard]] wishes wanted() const;

  // --- for those who choose one ---

  /// How much is lost if it is closed for the sake of another; the last one is the first to go.
  enum class worth : std::uint8_t {
    needed,   ///< it is not closed: a request is carried out that changes something
    at_work,  ///< it has requests that are to be answered
    unread,   ///< its client does not take the answer
    idle,     ///< its client has asked nothing, or not yet all of it
  };
  [[nodiscard]] worth worth_now() const;
  /// Grows whenever it begins to wait for a request: the lowest has been waiting the longest.
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
  std::string in_;            ///< what came and was not read
  std::size_t at_least_ = 1;  ///< bytes of `in_` with which it is worth reading again

  // What is to be sent, in this order.
  std::string out_;
  std::shared_ptr<const std::string> piece_;  ///< of a stream
  std::string tail_;                          ///< behind it
  std::size_t sent_ = 0;

  std::optional<held_answer> held_;
  std::optional<streamed_answer> stream_;

  // Of the request that is being answered.
  std::optional<request> asked_;
  bool head_ = false;
  bool changes_ = false;  ///< what was asked may change something
  bool http_1_0_ = false;
  bool last_ = false;  ///< the connection ends with its answer

  std::size_t requests_ = 0;
  std::size_t in_this_turn_ = 0;  ///< requests, or pieces of a stream
  std::size_t dropped_ = 0;       ///< bytes, while lingering
  std::uint64_t rank_ = 0;
  core::time_point until_ = core::never;     ///< of the stage
  core::time_point write_by_ = core::never;  ///< while the client does not take what is sent
};

}  // namespace tenure::http
