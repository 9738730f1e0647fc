#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "base/unique_fd.hpp"
#include "http/asio_loop.hpp"
#include "http/server/connection_driver.hpp"
#include "http/server/http_server.hpp"
#include "http/server/server_listener.hpp"
#include "http/server/unix_socket.hpp"

namespace tenure::http {

/// The inside of `http_server`: the work of its one thread.
class server_thread {
 public:
  server_thread();
  server_thread(const server_thread&) = delete;
  server_thread& operator=(const server_thread&) = delete;

  // Before `run`.
  void listen(base::unique_fd socket, std::optional<unix_socket> file,
              http_server::deferring_handler handler, const http_limits& limits, traffic* counted);
  void attend_with(std::function<attention()> attend) { attend_ = std::move(attend); }

  /// Serves until `end` is called and everything is closed.
  void run();

  /// Reports that there may be news. Thread-safe and cheap: while one call waits for the thread,
  /// further calls do nothing.
  void news();
  /// Starts the end. Thread-safe.
  void end();

  // For connections and listeners.
  [[nodiscard]] auto executor() { return io_.get_executor(); }
  [[nodiscard]] asio_loop& loop() { return loop_; }
  /// Calls the connection's `go_on` once, after those that were enqueued before.
  void enqueue(connection_driver& which);
  /// Lets `run` return if the server is ending and no connection is left.
  void end_if_done();

 private:
  void attend();
  void work();
  void begin_end();
  [[nodiscard]] std::vector<std::shared_ptr<connection_driver>> all_clients() const;

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_;
  asio_loop loop_;
  std::list<server_listener> listeners_;
  std::deque<std::shared_ptr<connection_driver>> turns_;
  std::function<attention()> attend_;
  base::timer attend_again_;
  base::timer close_all_;
  std::atomic<bool> has_news_{false};
  bool stopping_ = false;
};

}  // namespace tenure::http
