#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>

#include "stores/sqlite/surroundings.hpp"

namespace tenure::stores::sqlite {

/// One thread that carries out the jobs.
///
/// Thread-safe, but for `start` and `stop`, which are called once each by the owner.
class worker final : public job_runner {
 public:
  /// `answers_to`: where what the jobs return is called. Its context runs for as long as a job is
  /// under way.
  worker(std::size_t most_waiting, boost::asio::any_io_executor answers_to);
  ~worker() override { stop(); }

  /// Starts the thread, with all signals blocked: they are for the main thread.
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
