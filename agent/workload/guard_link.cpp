#include "workload/guard_link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/timing.hpp"
#include "os/boot_time.hpp"
#include "os/unique_fd.hpp"
#include "workload/guard_fds.hpp"
#include "workload/guard_protocol.hpp"
#include "workload/orphans.hpp"
#include "workload/shared_page.hpp"

namespace tenure::workload {
namespace asio = boost::asio;
namespace {

using error_code = boost::system::error_code;

/// The guard has this long after a deadline before the agent kills by itself. Later than any
/// guard that gets the processor at all.
constexpr core::duration guard_is_late_after = std::chrono::milliseconds(50);
static_assert(guard_is_late_after <= core::min_ttl / 20, "not later than the least kill_budget");
/// A guard that gets any processor at all acknowledges in milliseconds.
constexpr core::duration guard_hangs_after = std::chrono::seconds(1);
static_assert(guard_hangs_after <= core::min_ttl, "within the shortest lease; docs/safety.md 2");
/// Once more, for a machine that stood still: both of us come back at the same time.
constexpr core::duration second_look_after = std::chrono::milliseconds(100);
/// A stranger that was started a moment ago is not held against the workload if it ends so soon.
constexpr core::duration strangers_end_within = std::chrono::seconds(1);
/// Pause between two looks at what is left.
constexpr core::duration kill_again = std::chrono::milliseconds(10);

template <guard_message M>
std::vector<char> bytes_of(const M& what, const std::string& tail = {}) {
  const M complete = sealed(what, tail.size());
  std::vector<char> bytes(sizeof complete + tail.size());
  std::memcpy(bytes.data(), &complete, sizeof complete);
  std::ranges::copy(tail, bytes.begin() + sizeof complete);
  return bytes;
}

std::string mark_of(const std::string& session, core::version term) {
  return std::string(run_variable) + "=" + session + "." + std::to_string(core::number(term));
}

}  // namespace

struct guard_link::impl : std::enable_shared_from_this<impl> {
  /// What runs, as far as the guard has told.
  enum class work : std::uint8_t { none, asked, running };

  impl(const asio::any_io_executor& executor, os::unique_fd fd, pid_t guard, own_session ours,
       handler to_call)
      : on_event(std::move(to_call)),
        session(std::move(ours)),
        left(guard),
        socket(executor, fd.release()),
        backstop(executor),
        greeting(executor),
        hearing(executor),
        again(executor) {}

  // Towards the guard. One place for each kind of message, in the order in which they are sent;
  // the newest counts.
  std::array<std::vector<char>, 6> unsent;
  enum place : std::size_t {
    hello_place,
    log_place,
    armed_place,
    start_place,
    stop_place,
    bye_place
  };

  void send(place where, std::vector<char> bytes);
  void flush();
  [[nodiscard]] bool send_now(const std::vector<char>& bytes);

  // From the guard.
  void read();
  void take_messages();
  void on_packet(const packet& what);
  void say_hello();
  void on_hello(const message::guard_hello& what);
  [[nodiscard]] std::optional<guard_unusable> doubt(const message::guard_hello& what) const;
  [[nodiscard]] found_workload take_over(const message::guard_hello& what);
  void on_hang_up();
  void on_exited(const message::exited& what);
  void on_killed();
  void on_exited(const workload_exited& what);
  void emit(const guard_event& what);
  void emit_soon(const guard_event& what);

  // Instead of the guard.
  void await_hello(core::duration after);
  void await_acknowledgement();
  void look_for_acknowledgement(std::int64_t asked, core::duration after);
  void watch_deadline();
  void kill_orphans();

  handler on_event;
  own_session session;
  orphans left;
  asio::posix::stream_descriptor socket;
  asio::steady_timer backstop;  ///< for a guard that lets a deadline pass
  asio::steady_timer greeting;  ///< for a guard that does not answer
  asio::steady_timer hearing;   ///< for a guard that acknowledges nothing
  asio::steady_timer again;     ///< between two looks at the orphans
  shared_page page;
  std::optional<worker_page> for_worker;  ///< none: the guard is of an earlier release

  work state = work::none;
  core::version term = core::no_version;
  core::time_point kill_at = core::never;
  core::time_point kill_by = core::never;
  core::time_point in_doubt_from = core::never;  ///< what is left then may be of the workload
  core::time_point said_hello_at{};
  bool greeted = false;  ///< the guard has answered
  bool writing = false;
  bool awaits = false;   ///< an acknowledgement
  bool hangs = false;    ///< the guard does, and that was told
  bool gone = false;     ///< the guard is
  bool killing = false;  ///< we are at it instead of the guard
  bool closed = false;   ///< the link was destroyed
};

void guard_link::impl::emit(const guard_event& what) {
  if (!closed) on_event(what);
}

void guard_link::impl::emit_soon(const guard_event& what) {
  asio::post(socket.get_executor(), [self = shared_from_this(), what] { self->emit(what); });
}

void guard_link::impl::send(place where, std::vector<char> bytes) {
  unsent[where] = std::move(bytes);
  flush();
}

bool guard_link::impl::send_now(const std::vector<char>& bytes) {
  const ssize_t sent =
      ::send(socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  // Anything but a full socket is the guard's end, which reading finds out.
  return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS);
}

void guard_link::impl::flush() {
  if (gone || writing) return;
  for (std::vector<char>& bytes : unsent) {
    if (bytes.empty()) continue;
    if (send_now(bytes)) {
      bytes.clear();
      continue;
    }
    writing = true;
    socket.async_wait(asio::posix::descriptor_base::wait_write,
                      [self = shared_from_this()](error_code failed) {
                        self->writing = false;
                        if (!failed && !self->closed) self->flush();
                      });
    return;
  }
}

void guard_link::impl::read() {
  socket.async_wait(asio::posix::descriptor_base::wait_read,
                    [self = shared_from_this()](error_code failed) {
                      if (!failed && !self->closed) self->take_messages();
                    });
}

void guard_link::impl::take_messages() {
  alignas(8) std::array<std::byte, max_message_bytes> buffer;
  while (!closed) {
    const ssize_t got = ::recv(socket.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return read();
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return on_hang_up();
    if (const auto what = parse(std::span(buffer).first(static_cast<std::size_t>(got)))) {
      on_packet(*what);
    }
  }
}

void guard_link::impl::on_packet(const packet& what) {
  if (const auto hello = as<message::guard_hello>(what)) {
    on_hello(*hello);
  } else if (const auto started = as<message::started>(what)) {
    state = work::running;
    left.follow(started->pid);
    emit(workload_started{.pid = started->pid, .term = core::version{started->term}});
  } else if (const auto refused = as<message::refused>(what)) {
    if (state == work::asked && core::number(term) == refused->term) state = work::none;
    emit(start_refused{.term = core::version{refused->term}});
  } else if (const auto failed = as<message::start_failed>(what)) {
    if (state == work::asked) state = work::none;
    emit(start_failed{.term = core::version{failed->term}, .error = failed->error});
  } else if (const auto exited = as<message::exited>(what)) {
    // Of an earlier term: that workload was seen dead from here before.
    if (exited->term == core::number(term)) on_exited(*exited);
  } else if (const auto survives = as<message::survives>(what)) {
    emit(workload_survives{.term = core::version{survives->term},
                           .what = {.left = survives->left,
                                    .stuck = survives->stuck,
                                    .pid = survives->pid,
                                    .state = static_cast<char>(survives->state),
                                    .name = survives->name,
                                    .where = survives->where}});
  } else if (const auto signal = as<message::signalled>(what)) {
    emit(signalled{.signo = signal->signo});
  }
}

void guard_link::impl::say_hello() {
  message::hello what{.is_bound = session.is_bound ? 1U : 0U};
  std::ranges::copy(std::string_view(session.id).substr(0, what.session.size()),
                    what.session.begin());
  said_hello_at = os::boot_now();
  send(hello_place, bytes_of(what));
}

void guard_link::impl::on_hello(const message::guard_hello& what) {
  if (std::exchange(greeted, true)) return;
  greeting.cancel();
  if (const auto why = doubt(what)) return emit(*why);
  guard_ready ready;
  ready.last_term = core::version{page->granted.load()};
  ready.api_port = static_cast<std::uint16_t>(page->api_port.load());
  if (what.session != session_id{}) ready.session.assign(what.session.begin(), what.session.end());
  if (what.running != message::guard_hello::nothing_runs) {
    left.expect_mark(mark_of(ready.session, core::version{what.term}));
    ready.found = take_over(what);
  }
  if (!session.is_bound && !ready.session.empty()) session.id = ready.session;
  emit(ready);
}

/// Deadlines are instants: they must be the same to both of us. The guard has read its clock after
/// we said hello and before now; a difference that is smaller than this time does no harm.
std::optional<guard_unusable> guard_link::impl::doubt(const message::guard_hello& what) const {
  const core::time_point theirs{core::duration(what.clock)};
  const core::time_point now = os::boot_now();
  if (theirs >= said_hello_at && theirs <= now) return std::nullopt;
  return guard_unusable{
      "its clock (CLOCK_BOOTTIME) shows " + core::text(theirs - core::time_point{}) +
      ", and ours " + core::text(now - core::time_point{}) +
      ": one of us is in a time namespace of its own, and deadlines would not be the same instants "
      "to both; run both in the same time namespace"};
}

found_workload guard_link::impl::take_over(const message::guard_hello& what) {
  term = core::version{what.term};
  if (what.running == message::guard_hello::has_ended) {
    const workload_exited end{.status = what.status,
                              .at = core::time_point(core::duration(what.ended_at))};
    return {.term = term, .stop_at = core::never, .kill_at = core::never, .ended = end};
  }
  state = work::running;
  if (what.pid != 0) left.follow(what.pid);
  // A page that says nothing of this term leaves it no time.
  const core::time_point now = os::boot_now();
  const auto until = page->deadlines_of(term).value_or(guard_page::deadlines{now, now});
  kill_at = until.kill_at;
  watch_deadline();
  return {.term = term,
          .stop_at = until.stop_at,
          .kill_at = until.kill_at,
          .stopping = what.running == message::guard_hello::is_stopping};
}

void guard_link::impl::await_hello(core::duration after) {
  greeting.expires_after(after);
  greeting.async_wait([self = shared_from_this(), after](error_code failed) {
    if (failed || self->closed || self->gone || self->greeted) return;
    if (after != second_look_after) return self->await_hello(second_look_after);
    self->emit(guard_hangs{.workload_in_sight = self->left.in_sight()});
  });
}

void guard_link::impl::on_exited(const message::exited& what) {
  workload_exited out{.status = what.status, .had_to_be_killed = what.had_to_be_killed != 0};
  if (what.at != 0) out.at = core::time_point(core::duration(what.at));
  on_exited(out);
}

/// By us, or with its container: nobody has seen it.
void guard_link::impl::on_killed() {
  on_exited(workload_exited{.status = SIGKILL});
}

void guard_link::impl::on_exited(const workload_exited& what) {
  if (state != work::running) return;
  state = work::none;
  kill_by = core::never;
  in_doubt_from = core::never;
  killing = false;
  left.forget();
  backstop.cancel();
  emit(what);
}

void guard_link::impl::on_hang_up() {
  gone = true;
  // It may have started what it was asked to, and died before it could say so.
  if (state == work::asked) state = work::running;
  emit(guard_gone{.workload_in_sight = left.in_sight()});
  if (state == work::none) return;
  // What is out of sight dies with its container, and is dead at its deadline at the latest.
  if (!left.in_sight()) return watch_deadline();
  if (!std::exchange(killing, true)) kill_orphans();
}

void guard_link::impl::await_acknowledgement() {
  if (gone || std::exchange(awaits, true)) return;
  look_for_acknowledgement(page->kill_at.load(), guard_hangs_after);
}

void guard_link::impl::look_for_acknowledgement(std::int64_t asked, core::duration after) {
  hearing.expires_after(after);
  hearing.async_wait([self = shared_from_this(), asked, after](error_code failed) {
    if (failed || self->closed || self->gone) return;
    const std::int64_t heard = self->page->armed.load();
    if (heard < asked && after != second_look_after) {
      return self->look_for_acknowledgement(asked, second_look_after);
    }
    if (heard < asked) {
      if (!std::exchange(self->hangs, true)) {
        self->emit(guard_hangs{.workload_in_sight = self->left.in_sight(),
                               .start_unanswered = self->state == work::asked});
      }
      return self->look_for_acknowledgement(asked, guard_hangs_after);
    }
    self->awaits = false;
    if (std::exchange(self->hangs, false)) self->emit(guard_recovers{});
    if (heard < self->page->kill_at.load()) self->await_acknowledgement();
  });
}

/// Sets the timer for the moment when a guard that is well must have done its work.
void guard_link::impl::watch_deadline() {
  const core::time_point due = std::min(kill_at, kill_by);
  if (state == work::none || due == core::never) return;
  backstop.expires_after(std::max(due - os::boot_now(), core::duration::zero()) +
                         guard_is_late_after);
  backstop.async_wait([self = shared_from_this()](error_code failed) {
    if (failed || self->closed || self->state == work::none) return;
    // This clock stops while the machine sleeps, and the deadline may have been moved.
    if (os::boot_now() < std::min(self->kill_at, self->kill_by)) return self->watch_deadline();
    if (!self->left.in_sight()) {
      if (self->gone) self->on_killed();
      return;
    }
    if (!std::exchange(self->killing, true)) self->kill_orphans();
  });
}

void guard_link::impl::kill_orphans() {
  if (closed || !killing) return;
  if (state == work::none) {
    killing = false;
    return;
  }
  const remains found = left.kill_all();
  const core::time_point now = os::boot_now();
  // A start that was not answered may yet be carried out, until its deadline.
  if (state == work::asked && now >= core::later(kill_at, guard_is_late_after)) {
    state = work::running;
  }
  if (found != remains::doubtful || in_doubt_from == core::never) {
    in_doubt_from = now + strangers_end_within;
  }
  if (state == work::running && found == remains::nothing) return on_killed();
  if (state == work::running && now >= in_doubt_from) {
    emit(workload_doubtful{.term = term, .what = left.doubtful()});
    return on_killed();
  }
  again.expires_after(kill_again);
  again.async_wait([self = shared_from_this()](error_code failed) {
    if (!failed) self->kill_orphans();
  });
}

bool guard_link::in_environment() {
  return std::getenv(guard_fds_variable) != nullptr;
}

std::expected<std::unique_ptr<guard_link>, std::string> guard_link::from_environment(
    asio::any_io_executor executor, own_session session, handler on_event,
    const std::optional<target>& foreign) {
  auto fds = take_guard_fds();
  if (!fds) return std::unexpected(fds.error());
  auto link = make(executor, std::move(*fds), ::getppid(), std::move(session), std::move(on_event));
  if (link && foreign && !(*link)->self_->left.find_by(*foreign)) {
    return std::unexpected("/proc does not show the workload's processes; mount it");
  }
  return link;
}

std::expected<std::unique_ptr<guard_link>, std::string> guard_link::over(
    asio::any_io_executor executor, guard_fds fds, own_session session, handler on_event) {
  ucred who{};
  socklen_t size = sizeof who;
  ::getsockopt(fds.socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size);
  return make(executor, std::move(fds), who.pid, std::move(session), std::move(on_event));
}

std::expected<std::unique_ptr<guard_link>, std::string> guard_link::make(
    const asio::any_io_executor& executor, guard_fds fds, pid_t guard, own_session session,
    handler on_event) {
  auto self = std::make_shared<impl>(executor, std::move(fds.socket), guard, std::move(session),
                                     std::move(on_event));
  if (!self->page.map(std::move(fds.page))) {
    return std::unexpected(
        "the second descriptor is not a guard's page of this release; restart the guard with the "
        "same binary as the agent");
  }
  if (fds.worker_page && !self->for_worker.emplace().map(std::move(fds.worker_page))) {
    return std::unexpected(
        "the third descriptor is not a workload's page of this release; restart the guard with the "
        "same binary as the agent");
  }
  self->say_hello();
  self->await_hello(guard_hangs_after);
  self->read();
  return std::unique_ptr<guard_link>(new guard_link(std::move(self)));
}

guard_link::guard_link(std::shared_ptr<impl> self) : self_(std::move(self)) {}

guard_link::~guard_link() {
  self_->closed = true;
  error_code ignored;
  self_->socket.close(ignored);
  self_->backstop.cancel();
  self_->greeting.cancel();
  self_->hearing.cancel();
  self_->again.cancel();
}

void guard_link::log_as(core::log_form form, const std::string& fields) {
  self_->send(impl::log_place,
              bytes_of(message::log_as{.form = static_cast<std::uint32_t>(form)}, fields));
}

void guard_link::arm(core::version term, core::time_point stop_at, core::time_point kill_at) {
  self_->page->arm(term, {.stop_at = stop_at, .kill_at = kill_at});
  if (self_->state == impl::work::none || self_->term == term) self_->kill_at = kill_at;
  self_->send(impl::armed_place, bytes_of(message::armed{}));
  self_->await_acknowledgement();
  self_->watch_deadline();
}

void guard_link::show(const worker_term& what) {
  if (self_->for_worker) self_->for_worker->show(what);
}

core::time_point guard_link::acknowledged() const {
  return core::time_point(core::duration(self_->page->armed.load()));
}

void guard_link::note_grant(core::version term) {
  self_->page->granted.store(std::max(self_->page->granted.load(), core::number(term)));
}

void guard_link::forget_grants(core::version before) {
  self_->page->granted.store(std::min(self_->page->granted.load(), core::number(before)));
}

void guard_link::note_api_port(std::uint16_t port) {
  self_->page->api_port.store(port);
}

void guard_link::start(core::version term, const std::vector<std::string>& environment) {
  const std::string mark = mark_of(self_->session.id, term);
  std::string block = mark + '\0';
  for (const std::string& entry : environment) block.append(entry).push_back('\0');
  if (block.size() > max_environment_bytes || environment.size() >= max_environment_entries) {
    return self_->emit_soon(start_failed{.term = term, .error = E2BIG});
  }
  if (self_->gone) return self_->emit_soon(start_failed{.term = term, .error = EPIPE});
  if (self_->state == impl::work::none) {
    self_->term = term;
    self_->left.expect_mark(mark);
    self_->state = impl::work::asked;
    self_->kill_by = core::never;
  }
  self_->send(impl::start_place, bytes_of(message::start{.term = core::number(term)}, block));
  self_->watch_deadline();
}

void guard_link::stop(core::time_point kill_by, int signal) {
  self_->kill_by = std::min(self_->kill_by, kill_by);
  self_->send(impl::stop_place,
              bytes_of(message::stop{.kill_by = self_->kill_by.time_since_epoch().count(),
                                     .signal = signal}));
  self_->watch_deadline();
}

void guard_link::bye(std::optional<int> exit_code) {
  self_->send(
      impl::bye_place,
      bytes_of(message::bye{.exit_code = exit_code.value_or(message::bye::as_the_workload)}));
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
      std::exchange(self_->killing, true))
    return;
  asio::post(self_->socket.get_executor(), [self = self_] { self->kill_orphans(); });
}

}  // namespace tenure::workload
