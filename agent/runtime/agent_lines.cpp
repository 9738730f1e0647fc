#include <algorithm>
#include <variant>

#include "os/wall_time.hpp"
#include "runtime/agent_loop.hpp"
#include "runtime/lines.hpp"

/// The part of the loop that finds out what its log has to say.
namespace tenure::runtime {
namespace {

/// The first command of this kind to this election; null if there is none.
template <class Command>
const Command* find(const core::session_effects& in, core::election_index of) {
  for (const core::addressed& one : in.commands) {
    const auto* found = std::get_if<Command>(&one.what);
    if (found != nullptr && one.which == of) return found;
  }
  return nullptr;
}

}  // namespace

// --- the store -------------------------------------------------------------------------------

void agent_loop::failed(store_request what, const std::string& why) {
  if (!outage_.failed(what, loop_.now())) return;
  say_store_lost(log_, options_.settings.identity,
                 {.store = options_.settings.store,
                  .operation = name(what),
                  .why = why,
                  .safe_for = safe_for()});
}

void agent_loop::answered(store_request what) {
  const auto gone_for = outage_.done(what, loop_.now());
  if (gone_for)
    say_store_back(log_, options_.settings.identity, options_.settings.store, *gone_for);
}

void agent_loop::say(const stores::notice& what) {
  say_store_notice(log_, options_.settings.store, what);
}

/// Until the first workload has to stop if nothing is renewed; nothing if no lease is held.
std::optional<core::duration> agent_loop::safe_for() const {
  core::time_point stop_at = core::never;
  for (std::uint32_t i = 0; i < session_.size(); ++i) {
    const auto& lease = session_.at(core::election_index{i}).view().lease;
    if (lease) stop_at = std::min(stop_at, lease->stop_at);
  }
  if (stop_at == core::never) return std::nullopt;
  return std::max(stop_at - loop_.now(), core::duration::zero());
}

// --- the end of a term -----------------------------------------------------------------------

void agent_loop::say(core::election_index which, const core::command::transition& what) {
  lines_[core::place(which)].changed(log_, speaker_of(which), session_.at(which), what,
                                     how_it_ends(which), circumstances_now());
}

/// Nobody writes of who holds what the store may not know any more.
circumstances agent_loop::circumstances_now() const {
  return {.now = loop_.now(), .store_answers = !outage_.lasts()};
}

/// How what runs is stopped by the step that is being carried out.
term_end agent_loop::how_it_ends(core::election_index which) const {
  term_end out;
  const auto* order = guard_ ? find<core::command::stop_workload>(effects_, which) : nullptr;
  if (order == nullptr) return out;
  const core::duration left = workload_is_killed_
                                  ? core::duration::zero()
                                  : std::max(order->kill_by - loop_.now(), core::duration::zero());
  out.why = order->why;
  out.time_to_stop = left;
  out.signal = has_hooks() ? 0 : stop_signal_;
  out.stop_by_unix_ms =
      os::wall_now_ms() + std::chrono::floor<std::chrono::milliseconds>(left).count();
  return out;
}

/// One that comes with the end of a term has been said with that.
void agent_loop::say(core::election_index which, const core::command::stop_workload&) {
  if (std::exchange(stop_ordered_, true))
    say_less_time(log_, speaker_of(which), how_it_ends(which));
}

void agent_loop::say(core::election_index which, const workload::workload_exited& what) {
  const core::duration ago = what.at ? loop_.now() - *what.at : core::duration::zero();
  say_workload_exited(log_, speaker_of(which),
                      {.wait_status = what.status,
                       .asked = std::exchange(stop_ordered_, false),
                       .had_to_be_killed = what.had_to_be_killed,
                       .ago = ago,
                       .at_unix_ms = os::wall_now_ms() -
                                     std::chrono::floor<std::chrono::milliseconds>(ago).count()});
}

/// What it says for itself is to be found where our lines are.
void agent_loop::tell_guard_the_log(workload::guard_link& with) const {
  const speaker who = speaker_of(core::election_index{0});
  with.log_as(log_.form(), fields_text(log_.form(), {{"election", who.election},
                                                     {"identity", who.identity},
                                                     coded("process", "guard")}));
}

}  // namespace tenure::runtime
