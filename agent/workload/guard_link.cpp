#include "workload/guard_link.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/duration_text.hpp"
#include "core/timing.hpp"
#include "guard/guard_endpoint.hpp"
#include "guard/guard_protocol.hpp"
#include "workload/guard_hearing.hpp"
#include "workload/guard_outbox.hpp"

namespace tenure::workload {
namespace {

using place = guard_outbox::place;

/// The agent kills by itself this long after a deadline. A guard that gets any processor time is
/// faster.
constexpr core::duration guard_is_late_after = std::chrono::milliseconds(50);
static_assert(guard_is_late_after <= core::min_ttl / 20, "not later than the least kill_budget");
/// An answer to our hello that takes longer shows the guard's clock too roughly: a difference as
/// long as that could hide in it. Then we say hello again, but not for ever.
constexpr core::duration clock_is_read_within = std::chrono::milliseconds(100);
constexpr int most_hellos = 5;
/// The kernel takes longer only if there is much memory to free, or if something hangs.
constexpr core::duration container_ends_within = std::chrono::milliseconds(100);

std::string mark_of(const std::string& session, core::version version) {
  return guard::mark_of_session(session) + std::to_string(core::number(version));
}

}  // namespace

struct guard_link::impl : std::enable_shared_from_this<impl> {
  /// The state of the workload, as far as the guard has reported.
  enum class work : std::uint8_t { none, asked, running };

  impl(base::event_loop& on, std::unique_ptr<guard::guard_access> access, own_session ours,
       handler to_call)
      : loop(on),
        on_event(std::move(to_call)),
        session(std::move(ours)),
        guard(std::move(access)),
        left(guard->workload()),
        page(guard->page()),
        outbox(guard->connection()),
        hearing(on, page, [this](bool hears) { on_hearing(hears); }),
        greeting(on),
        backstop(on),
        again(on),
        rest_of_container(on) {}

  void open();

  // From the guard.
  void on_packet(const guard::packet& what);
  void say_hello();
  void on_hello(const guard::message::guard_hello& what);
  [[nodiscard]] bool asks_again();
  [[nodiscard]] std::optional<guard_unusable> doubt(const guard::message::guard_hello& what) const;
  [[nodiscard]] found_workload take_over(const guard::message::guard_hello& what);
  void on_hang_up();
  [[nodiscard]] bool await_container();
  void on_container_end();
  void tell_gone(bool with_container);
  void on_hearing(bool hears);
  void on_exited(const guard::message::exited& what);
  void on_killed(bool with_container = false);
  void on_exited(const workload_exited& what);
  void nothing_runs();
  [[nodiscard]] bool is_buried(std::uint64_t which) const;
  [[nodiscard]] bool is_ours(std::uint64_t which) const;
  void emit(const guard_event& what);
  void emit_soon(const guard_event& what);

  void write(core::version of, const guard::guard_page::deadlines& until);

  // Instead of the guard.
  void await_hello(core::duration after);
  void watch_deadline();
  void on_deadline();
  void kill_orphans();

  base::event_loop& loop;
  handler on_event;
  own_session session;
  std::unique_ptr<guard::guard_access> guard;
  guard::visible_workload& left;
  guard::guard_page& page;
  guard_outbox outbox;
  guard_hearing hearing;          ///< for a guard that does not acknowledge
  base::timer greeting;           ///< for a guard that does not answer
  base::timer backstop;           ///< for a guard that lets a deadline pass
  base::timer again;              ///< between two looks at the orphans
  base::timer rest_of_container;  ///< for a container that ends later than its guard

  work state = work::none;
  core::version version = core::no_version;
  core::version buried = core::no_version;  ///< the last term whose end this link has seen itself
  core::time_point kill_at = core::never;
  core::time_point kill_by = core::never;
  core::time_point in_doubt_from = core::never;  ///< processes left then may belong to the workload
  core::time_point said_hello_at{};
  int hellos = 0;  ///< that we have said
  guard::session_id
      first_session{};     ///< what the guard's first answer had: the next ones have ours
  bool greeted = false;    ///< the guard has answered
  bool gone = false;       ///< the guard is gone
  bool told_gone = false;  ///< and so we have said
  bool killing = false;    ///< we kill instead of the guard
  bool closed = false;     ///< the link was destroyed
};

// --- what the guard says ---------------------------------------------------------------------

void guard_link::impl::emit(const guard_event& what) {
  if (!closed) on_event(what);
}

void guard_link::impl::emit_soon(const guard_event& what) {
  loop.post([noted = weak_from_this(), what] {
    if (const auto self = noted.lock()) self->emit(what);
  });
}

void guard_link::impl::open() {
  guard->connection().open({.packet =
                                [this](std::span<const std::byte> bytes) {
                                  const auto what = guard::parse(bytes);
                                  if (what && !closed) on_packet(*what);
                                },
                            .writable = [this] { outbox.has_room(); },
                            .hung_up =
                                [this] {
                                  if (!closed) on_hang_up();
                                }});
  say_hello();
  await_hello(guard_hangs_after);
}

void guard_link::impl::on_packet(const guard::packet& what) {
  if (const auto hello = guard::as<guard::message::guard_hello>(what)) {
    on_hello(*hello);
  } else if (const auto signal = guard::as<guard::message::signalled>(what)) {
    emit(signalled{.signo = signal->signo});
  } else if (!greeted) {
    // News for the previous agent. The guard's answer to our hello contains everything.
    return;
  } else if (const auto started = guard::as<guard::message::started>(what)) {
    if (!is_ours(started->version)) return;
    state = work::running;
    left.follow(started->pid);
    emit(workload_started{.pid = started->pid, .version = core::version{started->version}});
  } else if (const auto refused = guard::as<guard::message::refused>(what)) {
    if (is_buried(refused->version)) return;
    // Since its deadline it is taken for running: the end of what is left will be said.
    const bool is_killed = killing && state == work::running;
    if (is_killed && core::number(version) == refused->version) return;
    if (state == work::asked && core::number(version) == refused->version) nothing_runs();
    emit(start_refused{.version = core::version{refused->version}});
  } else if (const auto failed = guard::as<guard::message::start_failed>(what)) {
    // The previous agent may have asked for it and died before the guard answered.
    if (!is_ours(failed->version)) return;
    nothing_runs();
    emit(start_failed{.version = core::version{failed->version}, .error = failed->error});
  } else if (const auto exited = guard::as<guard::message::exited>(what)) {
    // Ignored for an earlier term: we saw the death of that workload before.
    if (exited->version == core::number(version)) on_exited(*exited);
  } else if (const auto survives = guard::as<guard::message::survives>(what)) {
    emit(workload_survives{.version = core::version{survives->version},
                           .what = {.left = survives->left,
                                    .stuck = survives->stuck,
                                    .pid = survives->pid,
                                    .state = static_cast<char>(survives->state),
                                    .name = survives->name,
                                    .where = survives->where}});
  }
}

void guard_link::impl::say_hello() {
  guard::message::hello what{.is_bound = session.is_bound ? 1U : 0U};
  std::ranges::copy(std::string_view(session.id).substr(0, what.session.size()),
                    what.session.begin());
  said_hello_at = loop.now();
  ++hellos;
  outbox.send(place::hello, what);
}

void guard_link::impl::on_hello(const guard::message::guard_hello& what) {
  if (greeted) return;
  if (hellos == 1) first_session = what.session;
  const auto why = doubt(what);
  if (!why && asks_again()) return;
  greeted = true;
  greeting.cancel();
  if (why) return emit(*why);
  guard_ready ready;
  ready.last_term = core::version{page.granted.load()};
  ready.api_port = static_cast<std::uint16_t>(page.api_port.load());
  if (first_session != guard::session_id{})
    ready.session.assign(first_session.begin(), first_session.end());
  if (what.running != guard::message::guard_hello::nothing_runs) {
    left.expect_mark(mark_of(ready.session, core::version{what.version}));
    ready.found = take_over(what);
  }
  if (!session.is_bound && !ready.session.empty()) session.id = ready.session;
  emit(ready);
}

bool guard_link::impl::asks_again() {
  if (loop.now() - said_hello_at <= clock_is_read_within || hellos == most_hellos) return false;
  say_hello();
  await_hello(guard_hangs_after);
  return true;
}

/// Deadlines must be the same instants for both sides. The guard read its clock after our hello and
/// before now.
std::optional<guard_unusable> guard_link::impl::doubt(
    const guard::message::guard_hello& what) const {
  const core::time_point theirs{core::duration(what.clock)};
  const core::time_point now = loop.now();
  if (theirs >= said_hello_at && theirs <= now) return std::nullopt;
  // Without numbers, which differ each time: a reason that was logged is not logged again.
  return guard_unusable{std::string("its clock (CLOCK_BOOTTIME) is ") +
                        (theirs < said_hello_at ? "behind" : "ahead of") +
                        " ours: one of us is in a time namespace of its own, and deadlines would "
                        "not be the same instants to both; run both in the same time namespace"};
}

found_workload guard_link::impl::take_over(const guard::message::guard_hello& what) {
  version = core::version{what.version};
  if (what.running == guard::message::guard_hello::has_ended) {
    const workload_exited end{.status = what.status,
                              .at = core::time_point(core::duration(what.ended_at))};
    return {.version = version, .stop_at = core::never, .kill_at = core::never, .ended = end};
  }
  state = work::running;
  if (what.pid != 0) left.follow(what.pid);
  // If the page has no deadlines of this term, it has no time left.
  const core::time_point now = loop.now();
  const auto until = page.deadlines_of(version).value_or(guard::guard_page::deadlines{now, now});
  kill_at = until.kill_at;
  watch_deadline();
  return {.version = version,
          .stop_at = until.stop_at,
          .kill_at = until.kill_at,
          .stopping = what.running == guard::message::guard_hello::is_stopping};
}

/// The hello must be answered in time, or within a second look. If we stood still meanwhile, the
/// answer may be waiting to be read, and there is one more.
void guard_link::impl::await_hello(core::duration after) {
  const core::time_point due = core::later(loop.now(), after);
  greeting.after(after, [this, after, due] {
    if (closed || gone || greeted) return;
    const bool stood_still = loop.now() - due >= second_look_after;
    if (after != second_look_after || stood_still) return await_hello(second_look_after);
    emit(guard_hangs{.workload_in_sight = left.in_sight()});
  });
}

void guard_link::impl::on_hearing(bool hears) {
  if (closed) return;
  if (hears) return emit(guard_recovers{});
  emit(guard_hangs{.workload_in_sight = left.in_sight(), .start_unanswered = state == work::asked});
}

void guard_link::impl::on_exited(const guard::message::exited& what) {
  workload_exited out{.status = what.status, .had_to_be_killed = what.had_to_be_killed != 0};
  if (what.at != 0) out.at = core::time_point(core::duration(what.at));
  on_exited(out);
}

void guard_link::impl::write(core::version of, const guard::guard_page::deadlines& until) {
  page.arm(of, until);
  outbox.send(place::armed, guard::message::armed{});
  if (!gone) hearing.await();
}

/// We killed it, or it died with its container: its status is unknown.
void guard_link::impl::on_killed(bool with_container) {
  if (state == work::running) {
    buried = version;
    // A guard that hangs must not take what comes until the deadline for this term's workload.
    const core::time_point now = loop.now();
    const bool may_mistake = !gone && left.comes_by_itself() && now < kill_at;
    if (may_mistake) write(version, {.stop_at = now, .kill_at = now});
  }
  on_exited(workload_exited{.status = SIGKILL, .with_container = with_container});
}

void guard_link::impl::on_exited(const workload_exited& what) {
  if (state != work::running) return;
  nothing_runs();
  emit(what);
}

void guard_link::impl::nothing_runs() {
  state = work::none;
  kill_by = core::never;
  in_doubt_from = core::never;
  killing = false;
  left.forget();
  backstop.cancel();
}

/// True if we killed the workload of this term ourselves: the report of a guard that hung is too
/// late.
bool guard_link::impl::is_buried(std::uint64_t which) const {
  return buried != core::no_version && core::number(buried) == which;
}

/// A guard of an earlier release reports what runs without a lease, too, under no version.
bool guard_link::impl::is_ours(std::uint64_t which) const {
  return which != core::number(core::no_version) && core::number(version) == which &&
         !is_buried(which);
}

void guard_link::impl::on_hang_up() {
  const bool is_unasked = state == work::asked && outbox.waits(place::start);
  if (is_unasked) nothing_runs();
  gone = true;
  outbox.close();
  hearing.stop();
  // The guard may have started the workload and died before it could report it.
  if (state == work::asked) state = work::running;
  if (await_container()) return;
  tell_gone(false);
  if (is_unasked) emit(start_refused{.version = version});
  if (state == work::none) return;
  // An invisible workload dies with its container, at its deadline at the latest.
  if (!left.in_sight()) return watch_deadline();
  if (!std::exchange(killing, true)) kill_orphans();
}

/// True if the end of an invisible workload is going to be seen, and said together with that of its
/// guard unless it takes long.
bool guard_link::impl::await_container() {
  if (state == work::none || left.in_sight()) return false;
  const bool is_told = guard->container().await_end([noted = weak_from_this()] {
    const auto self = noted.lock();
    if (self && !self->closed) self->on_container_end();
  });
  if (!is_told) return false;
  rest_of_container.after(container_ends_within, [this] {
    if (!closed) tell_gone(false);
  });
  watch_deadline();
  return true;
}

void guard_link::impl::on_container_end() {
  if (state == work::none) return;
  tell_gone(true);
  if (!closed) on_killed(true);
}

void guard_link::impl::tell_gone(bool with_container) {
  rest_of_container.cancel();
  if (std::exchange(told_gone, true)) return;
  emit(guard_gone{.workload_in_sight = left.in_sight(), .with_container = with_container});
}

// --- instead of the guard --------------------------------------------------------------------

/// Sets the timer for the instant by which a healthy guard must have killed.
void guard_link::impl::watch_deadline() {
  const core::time_point due = std::min(kill_at, kill_by);
  if (closed || state == work::none || due == core::never) return;
  backstop.at(core::later(due, guard_is_late_after), [this] {
    // If we stood still, handle the guard's messages of that time first.
    loop.post([noted = weak_from_this()] {
      if (const auto self = noted.lock()) self->on_deadline();
    });
  });
}

void guard_link::impl::on_deadline() {
  if (closed || state == work::none) return;
  const core::time_point due = std::min(kill_at, kill_by);
  if (loop.now() < core::later(due, guard_is_late_after)) return watch_deadline();
  if (!left.in_sight()) {
    if (!gone) return;
    tell_gone(false);
    return on_killed();
  }
  if (!std::exchange(killing, true)) kill_orphans();
}

void guard_link::impl::kill_orphans() {
  if (closed || !killing) return;
  if (state == work::none) {
    killing = false;
    return;
  }
  const guard::remains found = left.kill_all();
  const core::time_point now = loop.now();
  // An unanswered start may still be carried out until its deadline.
  if (state == work::asked && now >= core::later(kill_at, guard_is_late_after)) {
    state = work::running;
  }
  if (found != guard::remains::doubtful || in_doubt_from == core::never) {
    in_doubt_from = now + guard::strangers_end_within;
  }
  if (state == work::running && found == guard::remains::nothing) return on_killed();
  if (state == work::running && now >= in_doubt_from) {
    emit(workload_doubtful{.version = version, .what = left.doubtful()});
    return on_killed();
  }
  again.after(guard::kill_again_after, [this] { kill_orphans(); });
}

// --- what the agent asks for -----------------------------------------------------------------

bool guard_link::in_environment() {
  return guard::fds_in_environment();
}

std::expected<std::unique_ptr<guard_link>, std::string> guard_link::from_environment(
    base::event_loop& on, const boost::asio::any_io_executor& executor, own_session session,
    handler on_event, const std::optional<settings::target>& foreign) {
  auto found = guard::guard_that_started_us(executor, foreign);
  if (!found) return std::unexpected(std::move(found.error()));
  return std::make_unique<guard_link>(on, std::move(*found), std::move(session),
                                      std::move(on_event));
}

std::expected<std::unique_ptr<guard_link>, std::string> guard_link::over(
    base::event_loop& on, const boost::asio::any_io_executor& executor, guard::guard_fds fds,
    own_session session, handler on_event) {
  auto found = guard::guard_behind(executor, std::move(fds));
  if (!found) return std::unexpected(std::move(found.error()));
  return std::make_unique<guard_link>(on, std::move(*found), std::move(session),
                                      std::move(on_event));
}

guard_link::guard_link(base::event_loop& on, std::unique_ptr<guard::guard_access> with,
                       own_session session, handler on_event)
    : self_(std::make_shared<impl>(on, std::move(with), std::move(session), std::move(on_event))) {
  self_->open();
}

/// One of its handlers may destroy the link, so its parts are destroyed in a later turn of the
/// loop.
guard_link::~guard_link() {
  self_->closed = true;
  self_->guard->connection().close();
  self_->outbox.close();
  self_->hearing.stop();
  self_->greeting.cancel();
  self_->backstop.cancel();
  self_->again.cancel();
  self_->rest_of_container.cancel();
  base::event_loop& loop = self_->loop;
  loop.post([last = std::move(self_)] {});
}

void guard_link::log_as(log::log_form form, const std::string& fields) {
  self_->outbox.send(place::log, guard::message::log_as{.form = static_cast<std::uint32_t>(form)},
                     fields);
}

void guard_link::arm(core::version version, core::time_point stop_at, core::time_point kill_at) {
  if (self_->state == impl::work::none || self_->version == version) self_->kill_at = kill_at;
  self_->write(version, {.stop_at = stop_at, .kill_at = kill_at});
  self_->watch_deadline();
}

void guard_link::show(const guard::worker_term& what) {
  if (tenure_page* const page = self_->guard->worker_page()) guard::show(*page, what);
}

core::time_point guard_link::acknowledged() const {
  return core::time_point(core::duration(self_->page.armed.load()));
}

void guard_link::note_grant(core::version version) {
  std::atomic<std::uint64_t>& granted = self_->page.granted;
  granted.store(std::max(granted.load(), core::number(version)));
}

void guard_link::forget_grants(core::version before) {
  std::atomic<std::uint64_t>& granted = self_->page.granted;
  granted.store(std::min(granted.load(), core::number(before)));
}

void guard_link::note_api_port(std::uint16_t port) {
  self_->page.api_port.store(port);
}

void guard_link::start(core::version version, const std::vector<std::string>& environment) {
  const std::string mark = mark_of(self_->session.id, version);
  std::string block = mark + '\0';
  for (const std::string& entry : environment) block.append(entry).push_back('\0');
  if (block.size() > guard::max_environment_bytes ||
      environment.size() >= guard::max_environment_entries) {
    return self_->emit_soon(start_failed{.version = version, .error = E2BIG});
  }
  if (self_->gone) return self_->emit_soon(start_failed{.version = version, .error = EPIPE});
  if (self_->state == impl::work::none) {
    self_->version = version;
    // A store that was restored may have counted up to a buried version once more.
    if (self_->is_buried(core::number(version))) self_->buried = core::no_version;
    self_->left.expect_mark(mark);
    self_->state = impl::work::asked;
    self_->kill_by = core::never;
    // It was meant for the previous workload.
    self_->outbox.take_back(place::stop);
  }
  self_->outbox.send(place::start, guard::message::start{.version = core::number(version)}, block);
  self_->watch_deadline();
}

void guard_link::stop(core::time_point kill_by, int signal) {
  self_->kill_by = std::min(self_->kill_by, kill_by);
  self_->outbox.send(
      place::stop,
      guard::message::stop{.kill_by = self_->kill_by.time_since_epoch().count(), .signal = signal});
  self_->watch_deadline();
}

void guard_link::bye(std::optional<int> exit_code) {
  self_->outbox.send(
      place::bye,
      guard::message::bye{.exit_code = exit_code.value_or(guard::message::bye::as_the_workload)});
}

void guard_link::presume_dead() {
  if (self_->gone) self_->on_killed();
}

bool guard_link::may_run() const {
  return self_->state != impl::work::none;
}

bool guard_link::gone() const {
  return self_->gone;
}

void guard_link::end_orphans() {
  if (!self_->left.in_sight() || self_->state == impl::work::none ||
      std::exchange(self_->killing, true)) {
    return;
  }
  self_->loop.post([noted = std::weak_ptr(self_)] {
    if (const auto self = noted.lock()) self->kill_orphans();
  });
}

}  // namespace tenure::workload
