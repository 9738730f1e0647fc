#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "net/answer.hpp"
#include "net/request_reader.hpp"
#include "net/responder.hpp"
#include "os/unique_fd.hpp"

namespace tenure::net {

class server_listener;
class server_loop;

/// What epoll may find ready.
class watched {
 public:
  virtual ~watched() = default;
  virtual void ready(std::uint32_t events) = 0;
};

/// One client of an `http_server`, from its first byte to its last. Everything on the loop's
/// thread.
class server_connection final : public watched {
 public:
  server_connection(server_loop& loop, server_listener& of, os::unique_fd socket,
                    std::optional<peer_process> peer, std::string network);
  ~server_connection();
  server_connection(const server_connection&) = delete;
  server_connection& operator=(const server_connection&) = delete;

  /// Begins to wait for a request.
  void begin(std::list<server_connection>::iterator self);
  void ready(std::uint32_t events) override;
  void overdue();      ///< the deadline has come
  void answered();     ///< word has come that an answer was given
  void look_around();  ///< a held answer or a stream may have news
  void go_on();        ///< its turn to work has come
  void finish();       ///< the server ends: as soon as what was begun is done
  void close();

  /// When `overdue` is to be called, and when to ask for that again.
  [[nodiscard]] core::time_point due() const { return std::min(until_, write_by_); }
  void look_again_at(core::time_point when);

  /// How much is lost if it is closed for the sake of another; the last one is the first to go.
  enum class worth : std::uint8_t {
    needed,   ///< it is not closed: a request is carried out that changes something
    at_work,  ///< it has requests that are to be answered
    unread,   ///< its client does not take the answer
    idle,     ///< its client has asked nothing, or not yet all of it
  };
  [[nodiscard]] worth worth_now() const;
  /// Where its client is, for shares; see `network_of`.
  [[nodiscard]] const std::string& network() const { return network_; }
  /// What waits for its client to read.
  [[nodiscard]] std::size_t unread() const { return out_.size() - sent_; }

 private:
  friend class server_loop;

  enum class stage : std::uint8_t {
    waiting,    ///< for the first byte of a request
    reading,    ///< for the rest of it
    answering,  ///< for the handler
    held,       ///< for news
    streaming,
    lingering,  ///< for the client to close
    closed,
  };

  void receive();
  [[nodiscard]] std::size_t read_requests(std::string_view bytes);
  void keep(std::string_view bytes, std::size_t used);
  void ask(received_request asked);
  void settle();
  void give(const response& what);
  void give(held_answer what);
  void give(streamed_answer what);
  [[nodiscard]] bool has_place() const;
  void leave_readers();
  void send_news();
  void send_piece(const std::string& text);
  [[nodiscard]] bool flush();
  void advance();
  void linger();
  void plan();
  void set_deadline(core::time_point when);
  void clear_deadline();

  server_loop& loop_;
  server_listener& of_;
  os::unique_fd socket_;
  std::optional<peer_process> peer_;
  const std::string network_;
  std::list<server_connection>::iterator self_{};
  stage stage_ = stage::waiting;
  std::string in_;   ///< what came and was not read
  std::string out_;  ///< what is to be sent
  std::size_t sent_ = 0;
  std::shared_ptr<answer_slot> slot_;  ///< of the request that is being answered
  std::uint64_t number_ = 0;           ///< by which others know it, while its answer is awaited
  std::optional<held_answer> held_;
  std::optional<streamed_answer> stream_;

  // Of the request that is being answered.
  bool head_ = false;
  bool changes_ = false;  ///< what was asked may change something
  bool http_1_0_ = false;
  bool last_ = false;  ///< the connection ends with its answer

  std::size_t requests_ = 0;
  std::size_t dropped_ = 0;                  ///< bytes, while lingering
  core::time_point until_ = core::never;     ///< of the stage
  core::time_point write_by_ = core::never;  ///< while the client does not take what is sent
  std::uint32_t interest_ = 0;
  std::optional<std::multimap<core::time_point, server_connection*>::iterator> deadline_;
  std::optional<std::list<server_connection*>::iterator> queued_;
};

}  // namespace tenure::net
