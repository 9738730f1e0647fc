#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "cli/client/json_codec.hpp"
#include "cli/verbs.hpp"
#include "core/timing.hpp"
#include "core/unhealthy_terms.hpp"
#include "runtime/exit_status.hpp"
#include "settings/store_kind.hpp"

namespace tenure::cli {
namespace {

void print_row(const char* sign, const char* name, core::duration value, const char* meaning) {
  std::printf("  %s %-12s %10s   %s\n", sign, name, core::text(value).c_str(), meaning);
}

/// An election with one slot is a lock of Consul, for which there is a lock-delay. Those with more
/// are semaphores, which have none.
bool has_lock(const settings::agent& of) {
  if (of.elections.empty()) return of.slots == 1;
  return std::ranges::any_of(of.elections, [](const auto& one) { return one.slots == 1; });
}

void print_failover(const core::consequences& means, const settings::consul& of) {
  if (!of.without_ttl) {
    return print_row(" ", "fail-over", means.worst_failover,
                     "at most, from a holder's crash to the start of the next workload");
  }
  const bool has_checks = !of.node_checks.empty() || !of.service_checks.empty();
  std::printf("    %-12s %10s   Consul ends the session of a holder that has crashed only if %s\n",
              "fail-over", "never",
              has_checks ? "a check fails, or an operator destroys it" : "an operator destroys it");
}

const char* writes_of_standby(const settings::agent& of) {
  const settings::store_kind* const kind = settings::find_store_kind(of.store);
  if (kind != nullptr && kind->is_file()) {
    return "a standby writes nothing to the file of the leases";
  }
  if (of.unlisted) return "a standby writes nothing";
  if (of.store == "consul") {
    return "each listed member renews its name as well, at least every 10 s, and a standby its "
           "session";
  }
  return "each listed member renews its name as well, at least every 10 s";
}

void print_text(const core::timing& t, const core::consequences& means, const settings::agent& of) {
  const core::budget b = t.of(t.ttl);
  std::array<char, 64> drift{};
  std::snprintf(drift.data(), drift.size(), "clocks may run apart by %g %%",
                static_cast<double>(t.drift_ppm) / 10'000.0);
  std::printf("Counted from the moment the last acknowledged renewal was sent%s:\n\n",
              of.store.empty() ? "" : (" (store " + of.store + ")").c_str());
  print_row(" ", "ttl", t.ttl, "the store grants to nobody else before");
  print_row("-", "drift", t.ttl - b.safe_until, drift.data());
  print_row("=", "safe_until", b.safe_until, "what this member may count on");
  print_row("-", "kill_budget", t.kill_budget, "the kernel needs at most this to end a process");
  print_row("=", "kill_at", b.kill_at, "SIGKILL to what is left");
  print_row("-", "grace", t.grace, "to end in good order");
  print_row("=", "stop_at", b.stop_at, "no longer holder in any answer; SIGTERM");
  std::puts("");
  print_row(" ", "renew", t.renew, "a renewal is due");
  std::printf("    %-12s %10s   of %s until stop_at: room for a try and its retry\n", "try_timeout",
              core::text(means.try_timeout).c_str(), core::text(means.tries_window).c_str());
  print_row(" ", "lock_delay", t.lock_delay, "a new holder waits, unless the old one released");
  print_row(" ", "drain", t.drain, "to end on resign or shutdown, while renewing");
  std::puts("\nWhat follows:\n");
  print_failover(means, of.consul);
  print_row(" ", "detection", means.detection, "store out of reach -> this member stops by itself");
  print_row(" ", "margin", means.margin, "between SIGKILL here and the earliest grant elsewhere");
  std::printf("    %-12s %10.0f   an hour, by the holder; %s\n", "writes", means.writes_per_hour,
              writes_of_standby(of));
}

void print_lock_delay(core::duration delay) {
  std::printf(
      "\nConsul grants a lock to nobody for %s after the session of its holder has ended;\na "
      "holder that learns this from a renewal has this long to stop.\n",
      core::text(delay).c_str());
}

void print_health(const settings::health& h, core::duration ttl) {
  using core::unhealthy_terms;
  std::puts("\nA workload whose health check fails:\n");
  print_row(" ", "noticed", h.noticed_within(), "at most, once it has run for health_delay");
  print_row(" ", "pause", ttl, "this member stands aside; twice as long each time in a row");
  print_row(" ", "longest", std::max(ttl, unhealthy_terms::longest_pause), "such a pause at most");
  print_row(" ", "forgotten", unhealthy_terms::well_after, "after an active term of this length");
}

std::string found_by(const settings::target& t) {
  using kind = settings::target::kind;
  if (t.by == kind::executable) return "its executable, " + t.value;
  if (t.by == kind::command_line) return "its command line, \"" + t.value + "\"";
  return "the process id in " + t.value;
}

void print_target(const settings::target& t) {
  std::printf("\nThe workload is found by %s; what belongs to it is stopped with it.\n",
              found_by(t).c_str());
  const bool runs = t.while_standby == settings::on_standby::run;
  std::printf("On a standby it %s.\n", runs ? "runs" : "is stopped");
  if (t.on_gain == settings::on_gain::signal) {
    const std::string name(config::signal_name(t.gain_signal));
    std::printf("When this member becomes active it gets SIG%s.\n", name.c_str());
  }
}

void print_traffic(const settings::kubernetes& its) {
  using settings::traffic;
  std::puts(its.traffic == traffic::gate
                ? "\nKubernetes learns which pod is active by its condition tenure.dev/active, for "
                  "a readinessGate:"
            : its.traffic == traffic::label
                ? "\nKubernetes learns which pod is active by its label tenure.dev/role, for the "
                  "selector of a Service:"
                : "\nKubernetes learns which pod is active by the only endpoint of a Service's "
                  "EndpointSlice:");
  std::puts(
      "written once the workload runs, taken back when it is asked to stop. No stop waits for "
      "that.");
}

}  // namespace

int run_explain(const invocation& what) {
  const auto settings = load_settings(what);
  if (!settings) return settings.error();
  for (const config::problem& one : settings->warnings) {
    std::fprintf(stderr, "warning: %s\n", config::render(one).c_str());
  }
  const core::duration delay =
      has_lock(*settings) ? settings->consul.lock_delay : core::duration::zero();
  const core::consequences means = core::explain(
      settings->timing, settings::expiry_lag_of(settings->store, settings->timing.ttl) + delay);
  if (what.output == output_form::json) {
    std::puts(budget_json(settings->timing, means, *settings).c_str());
  } else {
    print_text(settings->timing, means, *settings);
    if (delay > core::duration::zero()) print_lock_delay(delay);
    if (settings->health.is_checked()) print_health(settings->health, settings->timing.ttl);
    if (settings->target.given()) print_target(settings->target);
    if (settings->kubernetes.writes_traffic()) print_traffic(settings->kubernetes);
  }
  return runtime::exit_ok;
}

}  // namespace tenure::cli
