#include <boost/asio/posix/stream_descriptor.hpp>
#include <utility>

#include "base/boot_time.hpp"
#include "http/asio_loop.hpp"
#include "stores/sqlite/sqlite_store.hpp"
#include "stores/sqlite/surroundings.hpp"
#include "stores/sqlite/worker.hpp"

namespace tenure::stores {
namespace {

using boost::asio::posix::stream_descriptor;
using namespace sqlite;

class asio_readiness final : public readiness {
 public:
  asio_readiness(const boost::asio::any_io_executor& where, int descriptor,
                 std::function<void()> then)
      : descriptor_(where, descriptor), then_(std::move(then)) {}
  /// The descriptor belongs to the caller.
  ~asio_readiness() override { descriptor_.release(); }

  void wait() override {
    descriptor_.async_wait(stream_descriptor::wait_read,
                           [this, alive = std::weak_ptr(alive_)](boost::system::error_code error) {
                             if (alive.expired() || error) return;
                             const auto then = then_;  // it may destroy this object
                             then();
                           });
  }

 private:
  stream_descriptor descriptor_;
  std::function<void()> then_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class kernel_surroundings final : public surroundings {
 public:
  explicit kernel_surroundings(http::asio_loop& on) : loop_(on) {}

  [[nodiscard]] base::event_loop& loop() override { return loop_; }
  [[nodiscard]] const thread_clock& clock() const override { return kernel_clock(); }
  [[nodiscard]] std::string boot_id() const override { return base::boot_id(); }

  [[nodiscard]] std::expected<void, std::string> shares_its_clock() const override {
    if (base::boot_id().empty()) {
      return std::unexpected<std::string>(
          "this boot has no identity; mount /proc (/proc/sys/kernel/random/boot_id)");
    }
    if (base::boot_id_is_replaced()) {
      return std::unexpected<std::string>(
          "something is mounted over /proc/sys/kernel/random/boot_id, so members in other "
          "containers would take this one for another boot, and ignore its leases; unmount "
          "it, or use another store");
    }
    if (base::boot_time_is_shifted()) {
      return std::unexpected<std::string>(
          "this process is in a time namespace with a CLOCK_BOOTTIME of its own, which "
          "cannot be compared with that of other members; run it outside, or use another "
          "store");
    }
    return {};
  }

  [[nodiscard]] std::unique_ptr<job_runner> make_runner(std::size_t most_waiting) override {
    return std::make_unique<worker>(most_waiting, loop_.executor());
  }

  [[nodiscard]] std::unique_ptr<readiness> when_readable(int descriptor,
                                                         std::function<void()> then) override {
    return std::make_unique<asio_readiness>(loop_.executor(), descriptor, std::move(then));
  }

 private:
  http::asio_loop& loop_;
};

}  // namespace

std::expected<std::unique_ptr<store>, open_error> make_sqlite_store(http::asio_loop& on,
                                                                    setup with) {
  return make_sqlite_store(std::make_unique<kernel_surroundings>(on), std::move(with));
}

}  // namespace tenure::stores
