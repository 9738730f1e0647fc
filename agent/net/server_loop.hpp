#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/clock.hpp"
#include "net/http_server.hpp"
#include "net/letter_box.hpp"
#include "net/server_connection.hpp"
#include "net/server_listener.hpp"
#include "net/unix_socket.hpp"
#include "os/unique_fd.hpp"

/// The inside of `http_server`: one thread and one epoll.
///
/// Readiness instead of Asio's operations: a request that comes in one piece, which nearly all do,
/// is answered with three system calls, and a connection that waits holds no buffer
/// (docs/decisions/0015-server-on-epoll.md).
namespace tenure::net {

class server_loop {
 public:
  server_loop();
  ~server_loop();
  server_loop(const server_loop&) = delete;
  server_loop& operator=(const server_loop&) = delete;

  void listen(os::unique_fd socket, std::optional<unix_socket> file,
              http_server::deferring_handler handler, const http_limits& limits, traffic* counted);
  void attend_with(std::function<attention()> attend) { attend_ = std::move(attend); }
  /// Serves until the letter box says that it ends, and everything is closed.
  void run();
  [[nodiscard]] const std::shared_ptr<letter_box>& box() const { return box_; }

  // For connections and listeners.
  using deadlines = std::multimap<core::time_point, server_connection*>;

  [[nodiscard]] core::time_point now() const { return now_; }
  [[nodiscard]] std::string_view date();
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] std::uint64_t next_number() { return ++last_number_; }
  /// Room for what is received, until somebody else receives.
  [[nodiscard]] std::span<char> scratch() { return scratch_; }
  void watch(int fd, std::uint32_t events, watched& by);
  void change(int fd, std::uint32_t events, watched& by);
  /// Before it is closed: a child that has inherited the socket would keep it in the epoll
  /// otherwise, and events would come for what is not there any more.
  void unwatch(int fd);
  [[nodiscard]] deadlines& all_deadlines() { return deadlines_; }
  /// Has it work, in turn with the others.
  void enqueue(server_connection& which);
  void dequeue(server_connection& which);
  void await_answer(std::uint64_t number, server_connection& which);
  void forget_answer(std::uint64_t number);
  /// Destroys it once nothing can refer to it any more.
  void retire(std::list<server_connection>& from, server_connection& which);

 private:
  void turn();
  void read_letters();
  void attend();
  void meet_deadlines();
  void work();
  void begin_shutdown();
  void close_all();
  template <class Do>
  void for_each_connection(Do what);
  [[nodiscard]] bool finished() const;
  [[nodiscard]] int patience() const;

  static constexpr std::size_t scratch_bytes = 16 * 1024;

  os::unique_fd epoll_;
  std::shared_ptr<letter_box> box_;
  std::list<server_listener> listeners_;
  deadlines deadlines_;
  std::list<server_connection*> queue_;
  std::list<server_connection> retired_;
  std::unordered_map<std::uint64_t, server_connection*> awaiting_;
  std::function<attention()> attend_;
  core::time_point attend_at_ = core::never;
  core::time_point close_all_at_ = core::never;
  core::time_point now_{};
  std::time_t date_of_ = -1;
  std::string date_;
  std::uint64_t last_number_ = 0;
  bool stopping_ = false;
  std::array<char, scratch_bytes> scratch_{};
};

}  // namespace tenure::net
