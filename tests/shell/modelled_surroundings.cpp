#include "modelled_surroundings.hpp"

#include <utility>

#include "stores/consul/consul_store.hpp"
#include "stores/etcd/etcd_store.hpp"
#include "stores/kubernetes/kubernetes_store.hpp"
#include "stores/printable_store.hpp"
#include "stores/sqlite/sqlite_store.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

/// From 1970 to the beginning of the world.
constexpr core::duration long_ago = 10'000h;

/// As `workload::guard_dialer` does.
constexpr core::duration between_tries = 250ms;
constexpr core::duration answers_within = 1s;

/// Connects to the socket of the guard of its pod.
class modelled_search final : public runtime::guard_search {
 public:
  modelled_search(std::shared_ptr<process> loop, guarded_pod& guarded, handler found)
      : loop_(std::move(loop)), guarded_(guarded), found_(std::move(found)), timer_(*loop_) {}

  void start() override {
    if (!dials_) try_after({});
  }
  void start_later() override {
    if (!dials_) try_after(between_tries);
  }

 private:
  void try_after(core::duration wait) {
    dials_ = true;
    timer_.after(wait, [this] { try_now(); });
  }

  void try_now() {
    if (!guarded_.guard_listens()) return failed({.why = "no guard is there", .absent = true});
    timer_.after(answers_within, [this] { failed({.why = "the guard does not answer"}); });
    try_ = std::make_shared<bool>(true);
    guarded_.knock(loop_, [this, of = std::weak_ptr(try_)](const std::optional<way_to_guard>& way) {
      if (!of.expired()) return answered(way);
      if (way) way->line->agent_closes();
    });
  }

  void answered(const std::optional<way_to_guard>& way) {
    if (!way) return failed({.why = "the guard has another agent"});
    try_.reset();
    timer_.cancel();
    dials_ = false;
    found_(
        runtime::guard_opener([loop = loop_, &guarded = guarded_, way = *way](
                                  const runtime::guard_wish& how, runtime::guard_handler on_event) {
          return guarded.connect(way, loop, how, std::move(on_event));
        }));
  }

  void failed(workload::no_guard why) {
    try_.reset();
    try_after(between_tries);
    found_(std::move(why));
  }

  std::shared_ptr<process> loop_;
  guarded_pod& guarded_;
  handler found_;
  base::timer timer_;
  std::shared_ptr<bool> try_;  ///< the try without an answer yet
  bool dials_ = false;
};

/// Finds the workload ill while its pod is sick.
class modelled_check final : public health::health_check {
 public:
  modelled_check(process& loop, const pod_machine& on, bool& passed)
      : on_(on), passed_(passed), timer_(loop) {}

  void begin(core::duration, handler done) override {
    timer_.after(3ms, [this, done = std::move(done)] {
      passed_ = passed_ || !on_.sick_since;
      done(on_.sick_since ? verdict("it is sick") : std::nullopt);
    });
  }
  void cancel() override { timer_.cancel(); }
  [[nodiscard]] const std::string& subject() const override { return subject_; }

 private:
  const pod_machine& on_;
  bool& passed_;
  base::timer timer_;
  std::string subject_ = "modelled check";
};

}  // namespace

base::clock_reading modelled_surroundings::read_clocks() {
  return {.boot = loop_->now(),
          .asleep = on_.asleep,
          .wall = long_ago + stage_.in.now.time_since_epoch() + on_.wall_off};
}

std::expected<std::unique_ptr<stores::store>, stores::open_error>
modelled_surroundings::make_plain_store(stores::setup with) {
  switch (stage_.store) {
    case kept_in::etcd:
      return stores::make_etcd_store(*loop_, stage_.network.connector(on_.number, loop_),
                                     std::move(with));
    case kept_in::consul:
      return stores::make_consul_store(*loop_, stage_.network.connector(on_.number, loop_),
                                       std::move(with));
    case kept_in::kubernetes:
      return stores::make_kubernetes_store(*loop_, stage_.network.connector(on_.number, loop_),
                                           std::move(with));
    case kept_in::sqlite:
      return stores::make_sqlite_store(make_modelled_sqlite(stage_.in, *stage_.host, loop_, fate_),
                                       std::move(with));
  }
  return nullptr;
}

std::expected<std::unique_ptr<stores::store>, stores::open_error> modelled_surroundings::make_store(
    stores::setup with) {
  with.wall_ms = [this] { return read_clocks().unix_ms(); };
  auto made = stores::make_printable_store(
      std::move(with), [this](stores::setup what) { return make_plain_store(std::move(what)); });
  if (!made) return made;
  return make_judged_store(std::move(*made), stage_, on_, to_);
}

runtime::guard_result modelled_surroundings::connect_parent_guard(const runtime::guard_wish& how,
                                                                  runtime::guard_handler on_event) {
  if (owned_.guarded == nullptr) return std::unexpected(std::string("there is no guard"));
  return owned_.guarded->connect_parent(loop_, how, std::move(on_event));
}

std::unique_ptr<runtime::guard_search> modelled_surroundings::search_guard(
    runtime::guard_search::handler found) {
  return std::make_unique<modelled_search>(loop_, *owned_.guarded, std::move(found));
}

std::vector<std::unique_ptr<health::health_check>> modelled_surroundings::make_health_checks(
    const settings::health&) {
  std::vector<std::unique_ptr<health::health_check>> out;
  out.push_back(std::make_unique<modelled_check>(*loop_, on_, has_been_well));
  return out;
}

}  // namespace tenure::shell
