#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tenure::stores::sqlite {

/// One thread that carries out one job after the other, for calls that block.
///
/// Thread-safe, but for `start` and `stop`, which are called once each by the owner.
class worker {
 public:
  using job = std::move_only_function<void()>;
  enum class place { last, first };

  explicit worker(std::size_t most_waiting) : most_waiting_(most_waiting) {}
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker() { stop(); }

  /// Starts the thread, with all signals blocked: they are for the main thread. False if the
  /// system has no more threads.
  [[nodiscard]] bool start();

  /// Queues a job. False if too many are waiting already, or if it was stopped.
  [[nodiscard]] bool add(job what, place where = place::last);

  /// Waits for the job that is being done and drops the others undone.
  void stop();

 private:
  void run();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> waiting_;  // guarded by mutex_
  bool stopped_ = false;     // guarded by mutex_
  std::thread thread_;
};

}  // namespace tenure::stores::sqlite
