#include "log/line_writer.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace tenure::log {

struct line_writer::state {
  state(int to, notice say) : fd(to), of_lost(std::move(say)) {}

  void run();
  [[nodiscard]] int put(const std::string& line);
  void count_lost(int why);

  const int fd;
  const notice of_lost;
  bool is_cut = false;  ///< the last line has no end; only the thread uses this

  std::mutex mutex;  ///< for all below; never held during a write
  std::condition_variable changed;
  std::deque<std::string> waiting;
  std::uint64_t lost = 0;
  std::uint64_t unsaid = 0;  ///< those of them that no line has told of
  int error = 0;             ///< why the last one was lost
  bool closing = false;
  bool ended = false;
};

/// Until all is written and nothing more comes.
void line_writer::state::run() {
  // What a write raises (SIGPIPE, SIGXFSZ, SIGTTOU) it raises in this thread. SIGTTOU would stop
  // the process, which is in the background of its terminal.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return closing || !waiting.empty(); });
    if (waiting.empty()) break;
    const std::uint64_t told = unsaid;
    std::string line;
    if (told == 0) {
      line = std::move(waiting.front());
      waiting.pop_front();
    }
    const int why = error;
    lock.unlock();
    const int failed = put(told == 0 ? line : of_lost(told, why));
    lock.lock();
    if (failed == 0) {
      unsaid -= told;
      continue;
    }
    // Where the notice cannot be written, the line after it cannot either.
    if (told > 0) waiting.pop_front();
    count_lost(failed);
  }
  ended = true;
  changed.notify_all();
}

/// Returns 0 or an errno value.
int line_writer::state::put(const std::string& line) {
  const std::string all = (is_cut ? "\n" : "") + line + '\n';
  for (std::string_view left = all; !left.empty();) {
    const ssize_t written = ::write(fd, left.data(), left.size());
    if (written > 0) {
      is_cut = left[static_cast<std::size_t>(written) - 1] != '\n';
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      // Another process that shares the description has made it non-blocking.
      pollfd until{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&until, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      return written == 0 ? EIO : errno;
    }
  }
  return 0;
}

void line_writer::state::count_lost(int why) {
  ++lost;
  ++unsaid;
  error = why;
}

line_writer::line_writer(int fd, notice of_lost)
    : state_(std::make_shared<state>(fd, std::move(of_lost))) {
  std::thread([mine = state_] { mine->run(); }).detach();
}

line_writer::~line_writer() {
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, patience, [this] { return state_->ended; });
}

void line_writer::write(std::string line) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->waiting.size() >= most_waiting) {
    state_->waiting.pop_front();
    state_->count_lost(0);
  }
  state_->waiting.push_back(std::move(line));
  state_->changed.notify_all();
}

std::uint64_t line_writer::lost() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->lost;
}

}  // namespace tenure::log
