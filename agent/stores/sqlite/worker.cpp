#include "stores/sqlite/worker.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <csignal>
#include <system_error>
#include <utility>

namespace tenure::stores::sqlite {

namespace asio = boost::asio;

worker::worker(std::size_t most_waiting, asio::any_io_executor answers_to)
    : most_waiting_(most_waiting), answers_to_(std::move(answers_to)) {}

bool worker::start() {
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // joinable() below reports this.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_.joinable();
}

bool worker::add(job what, place where) {
  // The context's run() must not end while an answer is on its way to it.
  entry added{.what = std::move(what),
              .answers_to = asio::prefer(answers_to_, asio::execution::outstanding_work.tracked)};
  {
    const std::scoped_lock hold(mutex_);
    if (stopped_ || waiting_.size() >= most_waiting_) return false;
    if (where == place::first) {
      waiting_.push_front(std::move(added));
    } else {
      waiting_.push_back(std::move(added));
    }
  }
  changed_.notify_one();
  return true;
}

void worker::stop() {
  std::deque<entry> dropped;
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
    entry next = std::move(waiting_.front());
    waiting_.pop_front();
    hold.unlock();
    task answer = next.what();
    next.what = nullptr;  // what it captured may be large, or lock something
    asio::post(next.answers_to, std::move(answer));
    next.answers_to = {};
    hold.lock();
  }
}

}  // namespace tenure::stores::sqlite
