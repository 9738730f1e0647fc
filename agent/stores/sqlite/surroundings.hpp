#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "base/event_loop.hpp"
#include "stores/sqlite/thread_clock.hpp"

namespace tenure::stores::sqlite {

/// Runs jobs that block, one after the other.
///
/// Used on the loop's thread only; `start` and `stop` are called once each.
class job_runner {
 public:
  using task = base::event_loop::task;
  /// The task that a job returns is called on the loop.
  using job = std::move_only_function<task()>;
  enum class place : std::uint8_t { last, first };

  virtual ~job_runner() = default;
  job_runner(const job_runner&) = delete;
  job_runner& operator=(const job_runner&) = delete;

  /// False if the system has no threads left.
  [[nodiscard]] virtual bool start() = 0;

  /// Queues a job. False if too many are waiting, or after `stop`.
  [[nodiscard]] virtual bool add(job what, place where) = 0;

  /// Waits for the present job, and drops the others without running them.
  virtual void stop() = 0;

 protected:
  job_runner() = default;
};

/// Waits until a descriptor is readable. Used on the loop's thread only.
class readiness {
 public:
  virtual ~readiness() = default;
  readiness(const readiness&) = delete;
  readiness& operator=(const readiness&) = delete;

  /// Calls the handler once, when there is something to read. No handler is called after the
  /// destruction.
  virtual void wait() = 0;

 protected:
  readiness() = default;
};

/// What the store needs from its process and the kernel, apart from files.
class surroundings {
 public:
  virtual ~surroundings() = default;
  surroundings(const surroundings&) = delete;
  surroundings& operator=(const surroundings&) = delete;

  /// The loop on which the store is used and answers.
  [[nodiscard]] virtual base::event_loop& loop() = 0;

  /// For work on the thread of `make_runner`.
  [[nodiscard]] virtual const thread_clock& clock() const = 0;

  /// The boot of the kernel that the clock belongs to. Empty: unknown.
  [[nodiscard]] virtual std::string boot_id() const = 0;

  /// Succeeds if other members on this host see the same boot and the same clock. The error says
  /// why not, and what to do.
  [[nodiscard]] virtual std::expected<void, std::string> shares_its_clock() const = 0;

  [[nodiscard]] virtual std::unique_ptr<job_runner> make_runner(std::size_t most_waiting) = 0;

  /// `descriptor` must stay open for longer than the returned object lives.
  [[nodiscard]] virtual std::unique_ptr<readiness> when_readable(int descriptor,
                                                                 std::function<void()> then) = 0;

 protected:
  surroundings() = default;
};

}  // namespace tenure::stores::sqlite
