#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>
#include <vector>

#include "os/boot_time.hpp"
#include "runtime/agent_loop.hpp"
#include "runtime/health_check.hpp"
#include "runtime/lines.hpp"

/// The part of the loop that is about the workload's health.
namespace tenure::runtime {
namespace {

/// All of them, or the first and how many more.
std::string names_of(const std::vector<stores::election_spec>& elections) {
  constexpr std::size_t most = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(most, elections.size()); ++i) {
    out += (i == 0 ? "" : ",") + elections[i].name;
  }
  return elections.size() > most ? out + " and " + std::to_string(elections.size() - most) + " more"
                                 : out;
}

}  // namespace

void agent_loop::open_health() {
  const config::health& with = options_.settings.health;
  if (!with.is_checked()) return;
  // What others run does so all the time, and must be well before it is told to be active.
  const bool ours = options_.has_guard && !has_hooks();
  const auto usual = ours ? config::health_time::active : config::health_time::always;
  const bool always = with.when.value_or(usual) == config::health_time::always;
  if (always && ours && !with.http.empty()) {
    say_health_asks_nobody(log_);
  }
  const std::string all = names_of(elections_);
  const speaker who{.election = all, .identity = options_.settings.identity};
  health_ = std::make_unique<health_monitor>(loop_, with, always, make_health_checks(loop_, with),
                                             log_, who, [this] { health_changed(); });
}

/// A workload of ours reports its start itself, unless it was found running. One that reads our
/// answers runs all the time, or, if it is checked only while it is active, for as long as we are
/// that in any election.
void agent_loop::tell_health(core::election_index which, const core::command::transition& what) {
  const bool runs =
      options_.has_guard ? session_.at(which).view().workload_running : !health_->always();
  if (what.to == core::phase::active && runs) health_->workload_started();
  if (what.from != core::phase::active) return;
  for (std::uint32_t i = 0; i < session_.size(); ++i) {
    if (session_.at(core::election_index{i}).view().phase == core::phase::active) return;
  }
  health_->workload_stopping();
}

void agent_loop::health_changed() {
  if (ended_) return;
  snapshots_.health(health_->shown());
  instruments_.health_is(health_->shown().state);
  dirty_ = true;
  // What was found running need not prove again that it may.
  const bool unknown = health_->shown().state == core::health::unknown;
  const bool fit = health_->fit() || (found_ && unknown);
  if (fit != std::exchange(fit_, fit)) {
    const core::election_event news = fit ? core::election_event(core::event::workload_healthy{})
                                          : core::election_event(core::event::workload_unhealthy{});
    for (std::uint32_t i = 0; i < session_.size(); ++i) {
      step(core::election_index{i}, news);
    }
  }
  carry_out();
}

}  // namespace tenure::runtime
