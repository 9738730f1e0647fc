#include "runtime/workload_health.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "health/health_check.hpp"
#include "health/health_lines.hpp"

namespace tenure::runtime {
namespace {

/// All names, or the first one and the number of the others.
std::string names_of(const std::vector<settings::election>& elections) {
  constexpr std::size_t most = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(most, elections.size()); ++i) {
    out += (i == 0 ? "" : ",") + elections[i].name;
  }
  return elections.size() > most ? out + " and " + std::to_string(elections.size() - most) + " more"
                                 : out;
}

}  // namespace

workload_health::workload_health(const parts& with) : with_(with) {
  const settings::health& how = with.settings.health;
  if (!how.is_checked()) return;
  // A workload that others run is always running, and must be healthy before it is told that it is
  // active.
  const bool guarded = with.workload.has_guard();
  const auto usual = guarded ? settings::health_time::active : settings::health_time::always;
  const bool always = how.when.value_or(usual) == settings::health_time::always;
  if (always && guarded && !how.http.empty()) health::say_health_asks_nobody(with.to);
  const std::string all = names_of(with.elections);
  const log::speaker who{.election = all, .identity = with.settings.identity};
  monitor_ = std::make_unique<health::health_monitor>(
      with.machine.loop(), how, always, with.machine.make_health_checks(how), with.to, who,
      [this] { changed(); }, [this] { return with_.machine.read_clocks().unix_ms(); });
}

bool workload_health::begin(bool workload_found) {
  workload_found_ = workload_found;
  if (!monitor_) return true;
  monitor_->start();
  show();
  return fit_ = is_fit();
}

void workload_health::workload_started() {
  if (monitor_) monitor_->workload_started();
}

void workload_health::workload_ended() {
  if (std::exchange(workload_found_, false) && monitor_) changed();
}

/// A workload of ours reports its start itself, unless it was found running. One that reads our API
/// runs all the time; if it is checked only while it is active, that is while we are active in any
/// election.
void workload_health::phase_changed(core::election_index which,
                                    const core::command::transition& what) {
  if (!monitor_) return;
  const core::lease_group& all = with_.driver.elections();
  const bool runs =
      with_.workload.owns_workload() ? all.at(which).view().workload_running : !always();
  if (what.to == core::phase::active && runs) monitor_->workload_started();
  if (what.from != core::phase::active) return;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all.at(core::election_index{i}).view().phase == core::phase::active) return;
  }
  monitor_->workload_stopping();
}

void workload_health::show() {
  with_.shown.health(monitor_->shown());
  with_.instruments.health_is(monitor_->shown().state);
  with_.reports.changed();
}

/// A workload that was found running need not prove again that it may run.
bool workload_health::is_fit() const {
  const bool unknown = monitor_->shown().state == core::health::unknown;
  return monitor_->fit() || (workload_found_ && unknown);
}

void workload_health::changed() {
  show();
  const bool fit = is_fit();
  if (fit == std::exchange(fit_, fit)) return with_.reports.step_ended();
  with_.driver.feed_all(fit ? core::election_event(core::event::workload_healthy{})
                            : core::election_event(core::event::workload_unhealthy{}));
}

}  // namespace tenure::runtime
