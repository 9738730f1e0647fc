#include "workload/hook_workload.hpp"

#include <algorithm>
#include <utility>

#include "core/check.hpp"

namespace tenure::workload {
namespace {

/// A store that grants whole seconds may grant up to this much more.
constexpr core::duration granted_more = std::chrono::seconds(1);

stop_plan::ways ways_of(const settings::hooks& h) {
  return {.remove_file = !h.gain_file.empty(),
          .http = !h.stop_http.empty(),
          .command = !h.stop_command.empty(),
          .exit_code = h.stop_exit_code.has_value()};
}

/// At the start `exit_code` is left out: the agent would end again at each restart.
stop_plan::ways ways_to_clear(const settings::hooks& h) {
  stop_plan::ways out = ways_of(h);
  out.exit_code = false;
  return out;
}

}  // namespace

hook_workload::hook_workload(base::event_loop& on, hooks ways, const settings::hooks& with,
                             const core::timing& when, std::vector<std::string> environment,
                             ended_by how, handler on_event)
    : loop_(on),
      with_(with),
      ended_by_(how),
      // A renewal may have been on its way when we gave up. Twice the ttl is longer than the lease
      // can last after it, even with different clock rates.
      lapse_(2 * when.ttl + granted_more),
      on_event_(std::make_shared<handler>(std::move(on_event))),
      ways_(std::move(ways)),
      plan_(ways_to_clear(with)),
      timer_(on),
      environment_(std::move(environment)) {
  environment_.insert(environment_.end(),
                      {"TENURE_VERSION=0", "TENURE_SEQUENCER=", "TENURE_SLOT=0"});
  stop_at_ = loop_.now();
  plan_.begin(stop_at_, stop_at_ + std::min(when.drain, when.ttl));
  stop_now();
}

hook_workload::~hook_workload() = default;

void hook_workload::emit_soon(hook_event what) {
  loop_.post([noted = std::weak_ptr(on_event_), what = std::move(what)] {
    if (const auto on_event = noted.lock()) (*on_event)(what);
  });
}

// --- one call at a time ----------------------------------------------------------------------

void hook_workload::call(hook& which, const hook_order& what, core::time_point until,
                         hook::handler done) {
  TENURE_CHECK(calling_ == nullptr);
  calling_ = &which;
  then_ = std::move(done);
  turn_at(until);
  which.call(what, until, [this](std::optional<hook_failure> how) {
    calling_ = nullptr;
    timer_.cancel();
    std::exchange(then_, nullptr)(std::move(how));
  });
}

/// The time limit of the present step has passed.
void hook_workload::turn() {
  if (calling_ != nullptr) {
    hook& late = *std::exchange(calling_, nullptr);
    late.cancel();
    std::exchange(then_, nullptr)(
        hook_failure{.why = late.subject() + ": not done in time", .in_doubt = true});
  } else if (std::exchange(waits_, false)) {
    (*on_event_)(stop_way_failed{"a hook was killed and has not ended"});
    while (plan_.current() && plan_.current() != stop_way::exit_code) plan_.next(loop_.now());
    no_way_left();
  } else if (state_ == state::lapsing) {
    state_ = state::idle;
    (*on_event_)(workload_lapsed{});
  }
}

// --- at the start ----------------------------------------------------------------------------

/// The stop at the start is over: hooks of earlier agents are dead or have no effect any more.
void hook_workload::cleared(bool stopped) {
  state_ = state::idle;
  plan_ = stop_plan(ways_of(with_));
  std::optional<bool> by_its_word;
  if (ways_.stop_http || ways_.stop_command) by_its_word = stopped;
  emit_soon(hooks_ready{by_its_word});
}

// --- gain ------------------------------------------------------------------------------------

void hook_workload::arm(core::version version, core::time_point stop_at, core::time_point) {
  version_ = version;
  stop_at_ = stop_at;
}

void hook_workload::start(core::version version, const std::vector<std::string>& environment) {
  TENURE_CHECK(state_ == state::idle && version == version_);
  environment_ = environment;
  state_ = state::gaining;
  gained_ = 0;
  gain_next();
}

void hook_workload::gain_next() {
  if (gained_ == ways_.gain.size()) {
    state_ = state::told;
    return emit_soon(workload_told{version_});
  }
  const core::time_point now = loop_.now();
  const auto left = static_cast<core::duration::rep>(ways_.gain.size() - gained_);
  call(*ways_.gain[gained_],
       order_of({.event = "gain", .version = version_, .expires_in = stop_at_ - now, .left = {}},
                environment_),
       now + (stop_at_ - now) / left,
       [this](const std::optional<hook_failure>& how) { gained(how); });
}

void hook_workload::gained(const std::optional<hook_failure>& how) {
  if (!how) {
    ++gained_;
    return gain_next();
  }
  state_ = gained_ == 0 && !how->in_doubt ? state::untold : state::told;
  (*on_event_)(workload_not_told{how->why});
}

// --- stop ------------------------------------------------------------------------------------

void hook_workload::stop(core::time_point kill_by, int) {
  const core::time_point now = loop_.now();
  switch (state_) {
    case state::clearing:
    case state::idle:
    case state::lapsing:
      return;
    case state::untold:
      state_ = state::idle;
      return emit_soon(workload_obeyed{});
    case state::stopping:
      plan_.shorten(now, kill_by);
      if (timer_.when() != core::never) turn_at(std::min(timer_.when(), plan_.until()));
      return;
    case state::gaining:
      if (calling_ != nullptr) std::exchange(calling_, nullptr)->cancel();
      then_ = nullptr;
      [[fallthrough]];
    case state::told:
      begin_to_stop(kill_by);
  }
}

/// Waits until killed hooks of the gain are dead: until then one of them could still activate the
/// workload after it says that it has stopped.
void hook_workload::begin_to_stop(core::time_point kill_by) {
  state_ = state::stopping;
  plan_.begin(loop_.now(), kill_by);
  const auto go_on = [this] {
    if (!std::exchange(waits_, false)) return;
    // With the time that is left, or `late_word` if none is.
    plan_.begin(loop_.now(), plan_.kill_by());
    stop_now();
  };
  for (const auto& one : ways_.gain) {
    if (one->settled(go_on)) continue;
    waits_ = true;
    turn_at(std::max(kill_by, plan_.until()));
    return;
  }
  stop_now();
}

hook* hook_workload::stopper() const {
  switch (*plan_.current()) {
    case stop_way::remove_file:
      return ways_.removal.get();
    case stop_way::http:
      return ways_.stop_http.get();
    case stop_way::command:
      return ways_.stop_command.get();
    case stop_way::exit_code:
      break;
  }
  return nullptr;
}

void hook_workload::stop_now() {
  hook* const by = plan_.current() ? stopper() : nullptr;
  if (by == nullptr) return no_way_left();
  const core::time_point now = loop_.now();
  call(*by,
       order_of({.event = "stop",
                 .version = version_,
                 .expires_in = stop_at_ - now,
                 .left = plan_.kill_by() - now},
                environment_),
       plan_.until(), [this](const std::optional<hook_failure>& how) { way_ended(how); });
}

void hook_workload::way_ended(const std::optional<hook_failure>& how) {
  // A removed file does not prove that the workload has read the change.
  if (!how && plan_.current() != stop_way::remove_file) {
    if (state_ == state::clearing) return cleared(true);
    state_ = state::idle;
    (*on_event_)(workload_obeyed{});
    return;
  }
  if (how) (*on_event_)(stop_way_failed{how->why});
  plan_.next(loop_.now());
  stop_now();
}

void hook_workload::no_way_left() {
  if (state_ == state::clearing) return cleared(false);
  if (ended_by_ == ended_by::guard) {
    state_ = state::idle;
    return emit_soon(workload_obeyed{});
  }
  if (plan_.current() == stop_way::exit_code) {
    return emit_soon(agent_must_end{static_cast<int>(*with_.stop_exit_code)});
  }
  state_ = state::lapsing;
  turn_at(loop_.now() + lapse_);
  emit_soon(workload_defied{});
}

}  // namespace tenure::workload
