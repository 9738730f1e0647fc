#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>

#include "stores/sqlite/surroundings.hpp"

namespace tenure::stores::sqlite {

/// One thread that runs jobs.
///
/// Thread-safe, except `start` and `stop`, which the owner calls once each.
class worker final : public job_runner {
 public:
  /// `answers_to`: where the tasks that jobs return are called. Its context keeps running while a
  /// job is under way.
  worker(std::size_t most_waiting, boost::asio::any_io_executor answers_to);
  ~worker() override { stop(); }

  /// Starts the thread with all signals blocked: the main thread handles them.
  [[nodiscard]] bool start() override;
  [[nodiscard]] bool add(job what, place where) override;
  void stop() override;

 private:
  struct entry {
    job what;
    boost::asio::any_io_executor answers_to;  ///< keeps its context running
  };

  void run();

  const std::size_t most_waiting_;
  const boost::asio::any_io_executor answers_to_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<entry> waiting_;  // guarded by mutex_
  bool stopped_ = false;       // guarded by mutex_
  std::thread thread_;
};

}  // namespace tenure::stores::sqlite
