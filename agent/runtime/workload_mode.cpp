#include "runtime/workload_mode.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "guard/guard_protocol.hpp"
#include "kube/container_end.hpp"
#include "runtime/hook_mode.hpp"
#include "runtime/parent_guard_mode.hpp"
#include "runtime/socket_guard_mode.hpp"

namespace tenure::runtime {
namespace {

std::int64_t whole_ms(core::duration what) {
  return std::chrono::floor<std::chrono::milliseconds>(what).count();
}

}  // namespace

core::event::workload_found event_of(const workload::found_workload& what) {
  return {.version = what.version,
          .stop_at = what.stop_at,
          .kill_at = what.kill_at,
          .stopping = what.stopping};
}

std::unique_ptr<workload_mode> make_workload_mode(const mode_parts& with, bool started_by_guard) {
  const settings::agent& s = with.settings;
  if (!s.guard_dir.empty()) return std::make_unique<socket_guard_mode>(with);
  if (s.hooks.any() && !s.target.given()) return std::make_unique<hook_mode>(with);
  if (!started_by_guard) return std::make_unique<reader_mode>(with.host);
  if (s.target.given()) return std::make_unique<found_processes_mode>(with);
  return std::make_unique<own_command_mode>(with);
}

bool reader_mode::open() {
  host_.open_store({});
  return true;
}

// --- what the elections want done ------------------------------------------------------------

void owned_mode::granted(core::version version) {
  if (owner_) owner_->note_grant(version);
}

void owned_mode::forget_grants(const core::command::forget_grants& what) {
  if (owner_) owner_->forget_grants(what.before);
}

/// The lease, for a worker that checks it before each write. While draining, the worker may finish
/// what it has started.
void owned_mode::show(const core::lease_group& what) {
  if (!owner_) return;
  const core::election& one = what.at(owned);
  if (one.adopting()) return;  // the previous agent's page stays until the store has answered
  const core::election_view& view = one.view();
  const bool active = view.phase == core::phase::active;
  if (!one.holding() || (!active && view.phase != core::phase::draining)) return owner_->show({});
  owner_->show({.state = active ? TENURE_ACTIVE : TENURE_DRAINING,
                .version = view.lease->version,
                .stop_at = view.lease->stop_at});
}

void owned_mode::arm(const core::command::arm& what) {
  owner_->arm(what.version, what.stop_at, what.kill_at);
}

void owned_mode::start(core::election_index, const core::election_view& view) {
  ran_ = false;
  stop_ordered_ = false;
  is_killed_ = false;
  const auto at = with_.machine.asked_by().api_address();
  owner_->note_api_port(at ? at->port : std::uint16_t{0});
  std::vector<std::string> added = environment(view);
  if (with_.settings.kubernetes.has_witness()) {
    const std::string words =
        kube::last_words(with_.election.name, view.lease->version, view.sequencer);
    if (!words.empty()) added.push_back(std::string(guard::last_words_variable) + "=" + words);
  }
  owner_->start(view.lease->version, added);
}

/// The first order of a term is logged with the end of that term.
void owned_mode::stop(const core::command::stop_workload& what) {
  if (std::exchange(stop_ordered_, true)) say_less_time(with_.to, who(), way_to_stop(what));
  owner_->stop(what.kill_by, stop_signal_);
}

/// A person at a terminal means exactly this signal; SIGTERM means the configured stop.
void owned_mode::give_up(int signo) {
  if (signo == SIGINT || signo == SIGQUIT) stop_signal_ = signo;
}

void owned_mode::phase_changed(const core::command::transition& what) {
  if (what.to == core::phase::candidate) ran_ = false;
}

void owned_mode::close() {
  owner_.reset();
}

// --- what the log says -----------------------------------------------------------------------

log::speaker owned_mode::who() const {
  return {.election = with_.election.name, .identity = with_.settings.identity};
}

term_end owned_mode::way_to_stop(const core::command::stop_workload& what) const {
  const core::duration left =
      is_killed_ ? core::duration::zero() : std::max(what.kill_by - now(), core::duration::zero());
  return {.why = what.why,
          .time_to_stop = left,
          .signal = stop_signal(),
          .stop_by_unix_ms = with_.machine.read_clocks().unix_ms() + whole_ms(left)};
}

void owned_mode::say_exit(const workload::workload_exited& what) {
  const core::duration ago = what.at ? now() - *what.at : core::duration::zero();
  say_workload_exited(with_.to, who(),
                      {.wait_status = what.status,
                       .asked = std::exchange(stop_ordered_, false),
                       .had_to_be_killed = what.had_to_be_killed,
                       .ago = ago,
                       .at_unix_ms = with_.machine.read_clocks().unix_ms() - whole_ms(ago)});
}

// --- what the workload is told ---------------------------------------------------------------

void owned_mode::runs(core::version version) {
  ran_ = true;
  feed(core::event::workload_started{version});
  if (driver().begun() && phase() == core::phase::active) with_.host.workload_started();
}

/// Others go first: the failure may be specific to this member.
void owned_mode::not_told(const std::string& why) {
  say_hook_not_gained(with_.to, who(), why);
  feed(core::event::resign{with_.settings.timing.ttl});
}

std::vector<std::string> owned_mode::names() const {
  return {"TENURE_ELECTION=" + with_.election.name, "TENURE_IDENTITY=" + with_.settings.identity};
}

std::vector<std::string> owned_mode::environment(const core::election_view& view) const {
  std::vector<std::string> out = names();
  out.insert(out.end(), {
                            "TENURE_VERSION=" + std::to_string(core::number(view.lease->version)),
                            "TENURE_SEQUENCER=" + view.sequencer,
                            "TENURE_SLOT=" + std::to_string(view.slot),
                        });
  for (std::string& one :
       stores::lock_variables(with_.settings.store, view.sequencer, view.lease->version)) {
    out.push_back(std::move(one));
  }
  const agent_listeners& at = with_.machine.asked_by();
  if (const auto api = at.api_address()) {
    out.push_back("TENURE_API=http://" + settings::text(*api));
  } else if (at.is_open() && !with_.settings.socket.empty()) {
    out.push_back("TENURE_API=unix:" + with_.settings.socket);
  }
  return out;
}

}  // namespace tenure::runtime
