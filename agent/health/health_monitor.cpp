#include "health/health_monitor.hpp"

#include <utility>

#include "core/timing.hpp"
#include "health/health_lines.hpp"

namespace tenure::health {

health_monitor::health_monitor(base::event_loop& on, const settings::health& with, bool always,
                               checks what, log::logger& to, const log::speaker& who,
                               std::function<void()> changed, std::function<std::int64_t()> unix_ms)
    : loop_(on),
      always_(always),
      interval_(with.interval),
      timeout_(with.timeout),
      judge_({.failures = with.failures, .successes = with.successes, .delay = with.delay}),
      checks_(std::move(what)),
      log_(to),
      elections_(who.election),
      identity_(who.identity),
      unix_ms_(std::move(unix_ms)),
      changed_(std::make_shared<std::function<void()>>(std::move(changed))),
      timer_(on) {
  shown_.since_unix_ms = unix_ms_();
}

health_monitor::~health_monitor() = default;

bool health_monitor::fit() const {
  return always_ ? judge_.verdict() == core::health::healthy
                 : judge_.verdict() != core::health::unhealthy;
}

void health_monitor::start() {
  std::string subjects;
  for (const auto& check : checks_) subjects += (subjects.empty() ? "" : ", ") + check->subject();
  say_health_checked(log_, subjects, interval_, always_);
  if (!always_) return;
  const core::time_point now = loop_.now();
  judge_.begin(now);
  checking_ = true;
  turn_at(next_round_ = now);
}

void health_monitor::workload_started() {
  const core::time_point now = loop_.now();
  if (always_) return judge_.forgive(now);
  if (std::exchange(checking_, true)) return;
  judge_.begin(now);
  turn_at(next_round_ = now);
}

void health_monitor::workload_stopping() {
  if (always_ || !std::exchange(checking_, false)) return;
  timer_.cancel();
  cancel_round();
  judge_.begin(loop_.now());
  show({});
}

void health_monitor::turn() {
  if (checking_ && unanswered_ == 0) begin_round(loop_.now());
}

void health_monitor::begin_round(core::time_point now) {
  round_begun_ = now;
  next_round_ = now + interval_;
  failure_.clear();
  unanswered_ = checks_.size();
  const std::uint64_t number = ++round_;
  for (const auto& check : checks_) {
    check->begin(timeout_,
                 [this, number](health_check::verdict what) { came(number, std::move(what)); });
  }
}

void health_monitor::cancel_round() {
  if (std::exchange(unanswered_, 0) == 0) return;
  ++round_;
  for (const auto& check : checks_) check->cancel();
}

void health_monitor::came(std::uint64_t round, health_check::verdict what) {
  if (round != round_) return;
  if (what && failure_.empty()) failure_ = std::move(*what);
  if (--unanswered_ == 0) round_ended();
}

void health_monitor::round_ended() {
  const bool passed = failure_.empty();
  const bool news = passed ? judge_.passed() : judge_.failed(round_begun_);
  if (news) {
    say_health(log_, {.election = elections_, .identity = identity_}, judge_.verdict(), failure_);
  }
  show(failure_);
  turn_at(next_round_);
}

void health_monitor::show(const std::string& reason) {
  if (shown_.state == judge_.verdict() && shown_.reason == reason) return;
  if (std::exchange(shown_.state, judge_.verdict()) != judge_.verdict()) {
    shown_.since_unix_ms = unix_ms_();
  }
  shown_.reason = reason;
  loop_.post([noted = std::weak_ptr(changed_)] {
    if (const auto changed = noted.lock()) (*changed)();
  });
}

}  // namespace tenure::health
