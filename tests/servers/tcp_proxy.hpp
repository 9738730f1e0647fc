#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.hpp"

namespace tenure::servers {

/// A network that can be told to fail: a TCP proxy in front of one port of 127.0.0.1.
///
/// It does not parse HTTP; it assumes that a request comes in one piece, and searches its text.
/// Two threads a connection; all functions may be called from any thread.
class tcp_proxy {
 public:
  /// Listens on a free port of `host`, 127.0.0.1 or ::1.
  explicit tcp_proxy(std::uint16_t to, const std::string& host = "127.0.0.1");
  ~tcp_proxy();
  tcp_proxy(const tcp_proxy&) = delete;
  tcp_proxy& operator=(const tcp_proxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// "http://127.0.0.1:20123"
  [[nodiscard]] std::string endpoint(const std::string& scheme = "http") const;

  /// Nothing passes any more, in neither direction, and no connection is closed.
  void black_hole();
  /// New connections are closed at once; those that are there go on.
  void refuse();
  /// Each piece is held back for so long.
  void delay(std::chrono::milliseconds each);
  /// All is well again, for what comes from now on and for what was held back.
  void heal();

  /// Closes all connections.
  void cut();
  /// Closes those that ever sent a request with this text in it.
  void cut(std::string_view text);

  /// The reply to the next request with this text in it is thrown away and its connection closed:
  /// it was carried out, and nobody hears of it.
  void lose_reply_to(std::string text);
  /// Pieces of replies with this text in them are thrown away until `heal`, and their connections
  /// go on. A piece of a watch is one reply or more.
  void lose_pieces(std::string text);
  /// How many were.
  [[nodiscard]] std::size_t lost_pieces() const;
  /// The next request with this text in it waits for `let_go`, even if the client has left by
  /// then.
  void hold_request(std::string text);
  void let_go();

  /// How many requests with this text in them have come.
  [[nodiscard]] std::size_t count(std::string_view text) const;
  /// How many connections are open.
  [[nodiscard]] std::size_t open() const;
  /// True once the request that was let go has been answered by the server.
  [[nodiscard]] bool held_was_answered() const;

 private:
  struct link {
    base::unique_fd client;
    base::unique_fd server;
    std::string sent;  ///< all that the client has sent
    bool loses = false;
    bool held = false;
    bool over = false;
    std::thread up;
    std::thread down;
  };

  void accept();
  void pump_up(link& of);
  void pump_down(link& of);
  /// Whether a piece may go on its way, once it may. If not, the link has ended.
  bool lets_up(link& of, std::string_view piece);
  bool lets_down(link& of, std::string_view& piece);
  void end(link& of);
  /// Waits until bytes may pass. False if the link is to end instead.
  bool may_pass(std::unique_lock<std::mutex>& lock, link& of, bool is_request);

  std::uint16_t to_;
  std::string host_;
  base::unique_fd listening_;
  std::uint16_t port_ = 0;

  mutable std::mutex mutex_;  ///< of all that follows
  std::condition_variable changed_;
  bool black_hole_ = false;
  bool refuses_ = false;
  bool ends_ = false;
  std::chrono::milliseconds delay_{0};
  std::string to_lose_;
  std::string pieces_to_lose_;
  std::size_t lost_pieces_ = 0;
  std::string to_hold_;
  bool let_go_ = false;
  bool held_was_answered_ = false;
  std::list<link> links_;
  std::thread accepting_;
};

}  // namespace tenure::servers
