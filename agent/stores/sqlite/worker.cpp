#include "stores/sqlite/worker.hpp"

#include <csignal>
#include <system_error>
#include <utility>

namespace tenure::stores::sqlite {

bool worker::start() {
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // Told by joinable() below.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_.joinable();
}

bool worker::add(job what, place where) {
  {
    const std::scoped_lock hold(mutex_);
    if (stopped_ || waiting_.size() >= most_waiting_) return false;
    if (where == place::first) {
      waiting_.push_front(std::move(what));
    } else {
      waiting_.push_back(std::move(what));
    }
  }
  changed_.notify_one();
  return true;
}

void worker::stop() {
  std::deque<job> dropped;
  {
    const std::scoped_lock hold(mutex_);
    stopped_ = true;
    dropped.swap(waiting_);
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void worker::run() {
  std::unique_lock hold(mutex_);
  for (;;) {
    changed_.wait(hold, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    job next = std::move(waiting_.front());
    waiting_.pop_front();
    hold.unlock();
    next();
    next = nullptr;  // what it captured may be large, or lock something
    hold.lock();
  }
}

}  // namespace tenure::stores::sqlite
