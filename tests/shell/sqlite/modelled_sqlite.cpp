#include "sqlite/modelled_sqlite.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <mutex>
#include <utility>

#include "core/check.hpp"
#include "sqlite/fiber.hpp"
#include "sqlite/sqlite_host.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using stores::sqlite::job_runner;

/// The thread of one agent that carries out jobs: it stops where a real one would block, and goes
/// on in virtual time. While the agent is stopped (SIGSTOP), so is the thread, even with a lock.
class modelled_runner final : public job_runner, public stores::sqlite::thread_clock {
 public:
  modelled_runner(world& in, sqlite_host& on, const std::shared_ptr<process>& loop,
                  std::shared_ptr<const agent_fate> fate, std::size_t most_waiting)
      : world_(in), host_(on), loop_(loop), fate_(std::move(fate)), most_waiting_(most_waiting) {}
  ~modelled_runner() override { modelled_runner::stop(); }

  [[nodiscard]] bool start() override { return true; }

  [[nodiscard]] bool add(job what, place where) override {
    if (stopped_ || waiting_.size() >= most_waiting_) return false;
    if (where == place::first) {
      waiting_.push_front(std::move(what));
    } else {
      waiting_.push_back(std::move(what));
    }
    if (!busy_) begin_next();
    return true;
  }

  void stop() override {
    if (std::exchange(stopped_, true)) return;
    waiting_.clear();
    here_.reset();
    // What is under way ends at once, as nothing blocks any more.
    while (thread_.is_under_way()) turn();
    host_.look();
  }

  /// A killed process reads no clock, and so finds nothing that it may tidy up.
  [[nodiscard]] core::time_point now() const override {
    const auto loop = loop_.lock();
    return fate_->killed || !loop ? core::time_point(-1ns) : loop->now();
  }

  void pause(core::duration how_long) const override {
    if (stopped_ || !thread_.is_running()) return;
    pauses_for_ = how_long;
    thread_.suspend();
  }

  /// Before SQLite writes: takes its time. Returns the errno value to fail with; 0: none.
  int before_write() {
    wrote_ = true;
    constexpr std::uint32_t slow_ones = 120'000;
    if (world_.dice.chance(slow_ones)) pause(host_.takes(300us, host_.longest_write));
    return fate_->killed ? EIO : host_.disk_error;
  }

  /// Whose jobs this thread is carrying out; null: nobody's.
  static modelled_runner* running() { return running_; }

 private:
  void begin_next() {
    busy_ = true;
    turn_in(host_.takes(50us, host_.longest_start));
  }

  void turn_in(core::duration wait) {
    world_.after(wait, [this, here = std::weak_ptr(here_)] {
      if (here.expired()) return;
      // By way of the process, which may be stopped.
      loop_.lock()->post([this, here] {
        if (!here.expired()) go_on();
      });
    });
  }

  void go_on() {
    if (!thread_.is_under_way()) {
      thread_.begin([this, what = std::move(waiting_.front())]() mutable { answer_ = what(); });
      waiting_.pop_front();
    }
    turn();
    if (std::exchange(wrote_, false) || !thread_.is_under_way()) host_.look();
    if (thread_.is_under_way()) return turn_in(pauses_for_);
    world_.after(host_.takes(50us, host_.longest_reply),
                 [loop = loop_, answer = std::make_shared<task>(std::move(answer_))] {
                   const auto to = loop.lock();
                   if (to) to->post([answer] { (*answer)(); });
                 });
    busy_ = false;
    if (!waiting_.empty()) begin_next();
  }

  void turn() {
    modelled_runner* const before = std::exchange(running_, this);
    thread_.resume();
    running_ = before;
  }

  static thread_local modelled_runner* running_;

  world& world_;
  sqlite_host& host_;
  std::weak_ptr<process> loop_;
  std::shared_ptr<const agent_fate> fate_;
  const std::size_t most_waiting_;
  std::deque<job> waiting_;
  mutable fiber thread_;
  mutable core::duration pauses_for_{};
  task answer_;
  bool busy_ = false;  ///< a job is under way, or is to be begun
  bool wrote_ = false;
  bool stopped_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

thread_local modelled_runner* modelled_runner::running_ = nullptr;

/// The -shm file grows by writes of one byte, while SQLite holds a mutex: these take no time.
bool takes_time(std::size_t size) {
  return modelled_runner::running() != nullptr && size > 1;
}

ssize_t write_at(int to, const void* bytes, std::size_t size, off_t at) {
  if (takes_time(size)) {
    errno = modelled_runner::running()->before_write();
    if (errno != 0) return -1;
  }
  return ::pwrite(to, bytes, size, at);
}

ssize_t write_on(int to, const void* bytes, std::size_t size) {
  if (takes_time(size)) {
    errno = modelled_runner::running()->before_write();
    if (errno != 0) return -1;
  }
  return ::write(to, bytes, size);
}

class modelled_sqlite final : public stores::sqlite::surroundings {
 public:
  modelled_sqlite(world& in, sqlite_host& on, std::shared_ptr<process> loop,
                  std::shared_ptr<const agent_fate> fate)
      : world_(in), host_(on), loop_(std::move(loop)), fate_(std::move(fate)) {
    // It is its own clock, too, and used before `make_runner`.
    runner_ = std::make_shared<modelled_runner>(world_, host_, loop_, fate_, most_jobs);
  }

  [[nodiscard]] base::event_loop& loop() override { return *loop_; }
  [[nodiscard]] const stores::sqlite::thread_clock& clock() const override { return *runner_; }
  [[nodiscard]] std::string boot_id() const override { return host_.boot_id(); }
  [[nodiscard]] std::expected<void, std::string> shares_its_clock() const override { return {}; }

  [[nodiscard]] std::unique_ptr<job_runner> make_runner(std::size_t) override {
    return std::make_unique<shared_runner>(runner_);
  }

  [[nodiscard]] std::unique_ptr<stores::sqlite::readiness> when_readable(
      int descriptor, std::function<void()> then) override {
    return std::make_unique<modelled_readiness>(world_, host_, loop_, descriptor, std::move(then));
  }

 private:
  static constexpr std::size_t most_jobs = 100;

  /// The store owns its runner.
  class shared_runner final : public job_runner {
   public:
    explicit shared_runner(std::shared_ptr<modelled_runner> to) : to_(std::move(to)) {}
    [[nodiscard]] bool start() override { return to_->start(); }
    [[nodiscard]] bool add(job what, place where) override {
      return to_->add(std::move(what), where);
    }
    void stop() override { to_->stop(); }

   private:
    std::shared_ptr<modelled_runner> to_;
  };

  world& world_;
  sqlite_host& host_;
  std::shared_ptr<process> loop_;
  std::shared_ptr<const agent_fate> fate_;
  std::shared_ptr<modelled_runner> runner_;
};

}  // namespace

modelled_readiness::modelled_readiness(world& in, sqlite_host& on,
                                       const std::shared_ptr<process>& loop, int descriptor,
                                       std::function<void()> then)
    : world_(in), host_(on), loop_(loop), descriptor_(descriptor), then_(std::move(then)) {
  host_.add(*this);
}

modelled_readiness::~modelled_readiness() {
  host_.remove(*this);
}

void modelled_readiness::wait() {
  waits_ = true;
  // What has happened since it was read last.
  world_.after(1us, [&host = host_, here = std::weak_ptr(here_)] {
    if (!here.expired()) host.wake_readers();
  });
}

void modelled_readiness::wake_in(core::duration wait) {
  waits_ = false;
  world_.after(wait, [this, here = std::weak_ptr(here_)] {
    const auto loop = here.expired() ? nullptr : loop_.lock();
    if (!loop) return;
    loop->post([this, here] {
      if (here.expired()) return;
      const auto then = then_;  // it may destroy this object
      then();
    });
  });
}

void model_writes() {
  static std::once_flag once;
  std::call_once(once, [] {
    sqlite3_vfs* const files = sqlite3_vfs_find(nullptr);
    for (const char* name : {"pwrite", "pwrite64"}) {
      if (files->xGetSystemCall(files, name) == nullptr) continue;
      files->xSetSystemCall(files, name, reinterpret_cast<sqlite3_syscall_ptr>(&write_at));
    }
    files->xSetSystemCall(files, "write", reinterpret_cast<sqlite3_syscall_ptr>(&write_on));
  });
}

std::unique_ptr<stores::sqlite::surroundings> make_modelled_sqlite(
    world& in, sqlite_host& on, std::shared_ptr<process> loop,
    std::shared_ptr<const agent_fate> fate) {
  return std::make_unique<modelled_sqlite>(in, on, std::move(loop), std::move(fate));
}

}  // namespace tenure::shell
