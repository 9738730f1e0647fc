#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.hpp"
#include "settings/endpoint.hpp"
#include "support/patience.hpp"

namespace tenure::tests {

/// The server's end of one connection, as a script uses it: blocking, on a thread of its own.
class peer {
 public:
  explicit peer(base::unique_fd fd) : fd_(std::move(fd)) {}

  /// The next request, with its body; empty if the client has closed instead. If the body
  /// stays open, the first piece.
  std::string request();
  /// The next piece of a body that stays open; empty if the client has closed instead.
  std::string piece();
  /// False if the client has closed.
  bool send(std::string_view bytes);
  /// Answers 200 with this body, and keeps the connection.
  bool reply(std::string_view body);
  /// Waits until the client's kernel has all that was sent. False if it does not come to that.
  bool delivered();
  /// Waits for the client to close. True if it does so within the time.
  bool closed_within(std::chrono::milliseconds limit);
  /// Waits for it for as long as is sane.
  bool closed() { return closed_within(patience); }
  /// Ends the connection with a reset instead of in an orderly way.
  void reset();
  /// Ends it in an orderly way; also from another thread than the script's.
  void close();

 private:
  bool receive();

  std::mutex ending_;  ///< of `fd_`, where another thread than the script's may end it
  base::unique_fd fd_;
  std::string received_;
};

/// A fake: it does what a script says, which is what a real server will not do when asked, on each
/// connection anew.
class scripted_server {
 public:
  /// `number`: of the connection, from 1.
  using script = std::function<void(peer&, int number)>;

  explicit scripted_server(script what, const std::string& host = "127.0.0.1");
  ~scripted_server();
  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;

  [[nodiscard]] settings::endpoint where() const { return where_; }
  /// How many there have been.
  [[nodiscard]] int connections() const { return connections_; }

 private:
  struct serving {
    explicit serving(base::unique_fd fd) : end(std::move(fd)) {}
    peer end;
    std::thread thread;
  };
  void accept();

  script script_;
  base::unique_fd listening_;
  settings::endpoint where_;
  std::atomic<int> connections_ = 0;
  std::list<serving> serving_;  ///< of `thread_` until that has ended
  std::thread thread_;
};

}  // namespace tenure::tests
