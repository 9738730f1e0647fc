#include "metrics/instruments.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "metrics/agent_families.hpp"

#ifndef TENURE_VERSION_TEXT
#error "TENURE_VERSION_TEXT comes from CMake"
#endif

namespace tenure::metrics {
namespace {

using seconds = std::chrono::duration<double>;

constexpr std::array<const char*, operations> operation_names{"acquire", "renew", "release", "read",
                                                              "watch"};
constexpr std::array<const char*, outcomes> outcome_names{"done", "refused", "lost", "unknown"};

/// False for outcomes that no store can return: such a series would always be zero.
constexpr bool exists(operation what, outcome how) {
  switch (how) {
    case outcome::refused:
      return what == operation::acquire;
    case outcome::lost:
      return what == operation::renew;
    case outcome::done:
    case outcome::unknown:
      break;
  }
  return true;
}

constexpr title renewal_duration{
    "tenure_lease_renewal_duration_seconds",
    "Time from asking the store for a renewal to its acknowledgement."};
constexpr title renewal_margin{
    "tenure_lease_renewal_margin_seconds",
    "Time that was left until this member would have stopped when a renewal was acknowledged."};

/// Somewhat more than the last page, so that a large page is not moved while it grows.
constexpr std::size_t room_for(std::size_t last_page_bytes) {
  return last_page_bytes + last_page_bytes / 16;
}

}  // namespace

instruments::instruments(const constants& about) {
  kept_
      .add_gauge({"tenure_build_info", "1; what was built, and by which compiler."},
                 {{"version", TENURE_VERSION_TEXT}, {"compiler", __VERSION__}})
      .set(1);
  const auto fixed = [this](const title& what, core::duration value) {
    kept_.add_gauge(what).set(seconds(value).count());
  };
  fixed({"tenure_lease_ttl_seconds", "How long the store is asked to keep a lease."},
        about.when.ttl);
  fixed({"tenure_lease_renew_interval_seconds", "How often a lease is renewed."}, about.when.renew);
  fixed({"tenure_lease_renewal_window_seconds",
         "Time from a due renewal to the stop: what tenure_lease_renewal_margin_seconds is when "
         "all is well."},
        about.when.of(about.when.ttl).stop_at - about.when.renew);

  for (std::size_t o = 0; o < operations; ++o) {
    for (std::size_t how = 0; how < outcomes; ++how) {
      if (!exists(operation{static_cast<std::uint8_t>(o)}, outcome{static_cast<std::uint8_t>(how)}))
        continue;
      requests_[o][how] = kept_.add_counter(
          {"tenure_store_requests_total",
           "What the store was asked, by what came of it; unknown: it may or may not have "
           "happened."},
          {{"operation", operation_names[o]}, {"outcome", outcome_names[how]}});
    }
  }
  if (about.has_health) {
    unhealthy_ = kept_.add_counter(
        {"tenure_workload_unhealthy_total",
         "How often the workload was found unhealthy, which may be over before anybody looks."});
  }
  adoptions_ =
      kept_.add_counter({"tenure_workload_adoptions_total",
                         "Workloads of an agent that had ended which this one has gone on with."});
  if (about.has_traffic) {
    traffic_shown_ = kept_.add_gauge(
        {"tenure_traffic_shown",
         "1 while Kubernetes names this pod as the active one, as far as it has acknowledged."});
    traffic_failures_ = kept_.add_counter(
        {"tenure_traffic_failures_total",
         "Requests about the traffic to the active pod that Kubernetes has not carried out."});
  }
  sleeps_ = kept_.add_counter(
      {"tenure_clock_sleeps_total", "How often the machine has slept while the agent ran."});
  sleep_seconds_ = kept_.add_counter(
      {"tenure_clock_sleep_seconds_total", "How long the machine has slept while the agent ran."});
  delays_ =
      kept_.add_counter({"tenure_loop_delays_total",
                         "How often the election loop got no processor for a second or more."});
  delay_seconds_ = kept_.add_counter(
      {"tenure_loop_delay_seconds_total",
       "How late the election loop was, all delays of a second or more together."});
  wall_jumps_ = kept_.add_counter(
      {"tenure_clock_wall_jumps_total",
       "How often the wall clock was set by half a second or more; leases do not depend on it."});
}

void instruments::store_answered(operation what, outcome how) {
  requests_[static_cast<std::size_t>(what)][static_cast<std::size_t>(how)].add();
}

void instruments::renewal_took(core::duration what) {
  renewal_duration_.observe(what);
}

void instruments::renewal_left(core::duration margin) {
  renewal_margin_.observe(margin);
}

void instruments::add_guard() {
  guard_up_ = kept_.add_gauge({"tenure_guard_up", "1 if there is a guard and it answers."});
  guard_hangs_ = kept_.add_counter(
      {"tenure_guard_hangs_total", "How often the guard has not acknowledged a deadline."});
  guard_restarts_ = kept_.add_counter(
      {"tenure_guard_restarts_total", "How often another guard was found after one had gone."});
}

void instruments::guard_is(bool up) {
  guard_up_.set(up ? 1 : 0);
}

void instruments::guard_hung() {
  guard_hangs_.add();
  guard_up_.set(0);
}

void instruments::guard_found() {
  if (std::exchange(guard_was_found_, true)) guard_restarts_.add();
  guard_up_.set(1);
}

void instruments::health_is(core::health verdict) {
  if (std::exchange(health_, verdict) == verdict) return;
  if (verdict == core::health::unhealthy) unhealthy_.add();
}

void instruments::workload_adopted() {
  adoptions_.add();
}

void instruments::traffic_named(bool is) {
  traffic_shown_.set(is ? 1 : 0);
}

void instruments::traffic_failed() {
  traffic_failures_.add();
}

void instruments::slept(core::duration lasted) {
  sleeps_.add();
  sleep_seconds_.add(seconds(lasted).count());
}

void instruments::was_late(core::duration by) {
  delays_.add();
  delay_seconds_.add(seconds(by).count());
}

void instruments::wall_clock_jumped() {
  wall_jumps_.add();
}

std::string instruments::page(const api::published& from, const clock_reader& at,
                              std::uint64_t log_lines_lost) {
  std::string out;
  out.reserve(room_for(last_page_bytes_));
  const auto seen = from.current();
  kept_.write(out);
  write(renewal_duration_.read(renewal_duration), out);
  write(renewal_margin_.read(renewal_margin), out);
  const core::time_point now = at().now;
  write_agent(*seen, std::max(core::duration::zero(), now - from.last_beat()), out);
  write_store(*seen, now, out);
  write_elections(*seen, at, out);
  write_log(log_lines_lost, out);
  write_traffic(api_traffic_, probe_traffic_, out);
  write_process(out);
  last_page_bytes_ = out.size();
  return out;
}

}  // namespace tenure::metrics
