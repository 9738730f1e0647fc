#include "modelled_surroundings.hpp"

#include <utility>

#include "stores/etcd/etcd_store.hpp"
#include "stores/printable_store.hpp"
#include "stores/sqlite/sqlite_store.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

/// From 1970 to the beginning of the world.
constexpr core::duration long_ago = 10'000h;

/// Finds the guard of its pod, after a moment.
class modelled_search final : public runtime::guard_search {
 public:
  modelled_search(std::shared_ptr<process> loop, stand_in_guard& guard, handler found)
      : loop_(std::move(loop)), guard_(guard), found_(std::move(found)), timer_(*loop_) {}

  void start() override { find_after({}); }
  void start_later() override { find_after(200ms); }

 private:
  void find_after(core::duration wait) {
    timer_.after(wait, [this] {
      found_(runtime::guard_opener([loop = loop_, to = &guard_](const runtime::guard_wish& how,
                                                                runtime::guard_handler on_event) {
        return to->connect(loop, how, std::move(on_event));
      }));
    });
  }

  std::shared_ptr<process> loop_;
  stand_in_guard& guard_;
  handler found_;
  base::timer timer_;
};

/// Finds the workload ill while its pod is sick.
class modelled_check final : public runtime::health_check {
 public:
  modelled_check(process& loop, const pod_machine& on) : on_(on), timer_(loop) {}

  void begin(core::duration, handler done) override {
    timer_.after(3ms, [this, done = std::move(done)] {
      done(on_.sick_since ? verdict("it is sick") : std::nullopt);
    });
  }
  void cancel() override { timer_.cancel(); }
  [[nodiscard]] const std::string& subject() const override { return subject_; }

 private:
  const pod_machine& on_;
  base::timer timer_;
  std::string subject_ = "modelled check";
};

}  // namespace

os::clock_reading modelled_surroundings::read_clocks() {
  return {.boot = loop_->now(),
          .asleep = on_.asleep,
          .wall = long_ago + stage_.in.now.time_since_epoch() + on_.wall_off};
}

std::expected<std::unique_ptr<stores::store>, stores::open_error> modelled_surroundings::make_store(
    stores::settings with) {
  with.wall_ms = [this] { return read_clocks().unix_ms(); };
  with.hears = stores::printable_hearing(std::move(with.hears));
  auto made =
      stage_.host != nullptr
          ? stores::make_sqlite_store(make_modelled_sqlite(stage_.in, *stage_.host, loop_, fate_),
                                      std::move(with))
          : stores::make_etcd_store(*loop_, stage_.network.connector(on_.number, loop_),
                                    std::move(with));
  if (!made) return made;
  return make_judged_store(stores::make_printable_store(std::move(*made)), stage_, on_, to_);
}

runtime::guard_result modelled_surroundings::connect_parent_guard(const runtime::guard_wish&,
                                                                  runtime::guard_handler) {
  return std::unexpected(std::string("no guard has started this agent"));
}

std::unique_ptr<runtime::guard_search> modelled_surroundings::search_guard(
    runtime::guard_search::handler found) {
  return std::make_unique<modelled_search>(loop_, guard_, std::move(found));
}

std::vector<std::unique_ptr<runtime::health_check>> modelled_surroundings::make_health_checks(
    const config::health&) {
  std::vector<std::unique_ptr<runtime::health_check>> out;
  out.push_back(std::make_unique<modelled_check>(*loop_, on_));
  return out;
}

}  // namespace tenure::shell
