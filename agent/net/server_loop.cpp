#include "net/server_loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "core/check.hpp"
#include "net/response_text.hpp"
#include "os/boot_time.hpp"

namespace tenure::net {
namespace {

/// Sockets that are looked at in one turn, and connections that have their turn to work in it.
constexpr std::size_t most_events = 64;
constexpr std::size_t most_workers = 64;
/// The shortest time between two looks at one deadline.
constexpr std::chrono::milliseconds deadline_step{1};

}  // namespace

server_loop::server_loop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), box_(std::make_shared<letter_box>()) {
  TENURE_CHECK(epoll_);
  epoll_event ringing{.events = EPOLLIN, .data = {.ptr = nullptr}};
  TENURE_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, box_->fd(), &ringing) == 0);
}

server_loop::~server_loop() = default;

void server_loop::listen(os::unique_fd socket, std::optional<unix_socket> file,
                         http_server::deferring_handler handler, const http_limits& limits,
                         traffic* counted) {
  listeners_.emplace_back(*this, std::move(socket), std::move(file), std::move(handler), limits,
                          counted);
}

void server_loop::run() {
  now_ = os::boot_now();
  attend();
  while (!finished()) turn();
}

void server_loop::turn() {
  std::array<epoll_event, most_events> events{};
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), patience());
  TENURE_CHECK(count >= 0 || errno == EINTR);
  now_ = os::boot_now();
  bool rung = false;
  for (const epoll_event& e :
       std::span(events).first(static_cast<std::size_t>(std::max(count, 0)))) {
    if (e.data.ptr == nullptr) {
      rung = true;
    } else {
      static_cast<watched*>(e.data.ptr)->ready(e.events);
    }
  }
  if (rung) read_letters();
  if (attend_at_ <= now_) attend();
  meet_deadlines();
  work();
  retired_.clear();
}

void server_loop::read_letters() {
  const letter_box::letters all = box_->take();
  for (const std::uint64_t number : all.answered) {
    const auto found = awaiting_.find(number);
    if (found != awaiting_.end()) found->second->answered();
  }
  if (all.news) attend();
  if (all.end && !stopping_) begin_shutdown();
}

/// Asks whoever knows whether there are news, and has everybody who waits for some look.
void server_loop::attend() {
  attend_at_ = core::never;
  if (!attend_) return;
  const attention found = attend_();
  if (found.again) attend_at_ = now_ + std::max<core::duration>(*found.again, deadline_step);
  if (!found.news) return;
  for (server_listener& l : listeners_) {
    for (server_connection& c : l.readers) c.look_around();
  }
}

void server_loop::meet_deadlines() {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_) {
    server_connection& c = *deadlines_.begin()->second;
    if (c.due() <= now_) c.overdue();
    c.look_again_at(std::max(c.due(), now_ + deadline_step));
  }
  for (server_listener& l : listeners_) {
    if (l.paused_until <= now_) l.resume();
  }
  if (close_all_at_ <= now_) close_all();
}

/// Lets those work whose turn it is. What is enqueued meanwhile has to wait for the next turn.
void server_loop::work() {
  for (std::size_t left = std::min(queue_.size(), most_workers); left > 0 && !queue_.empty();
       --left) {
    server_connection& c = *queue_.front();
    dequeue(c);
    c.go_on();
  }
}

/// How long nothing needs to be done, in milliseconds; -1: for ever.
int server_loop::patience() const {
  if (!queue_.empty()) return 0;
  core::time_point next = std::min(attend_at_, close_all_at_);
  if (!deadlines_.empty()) next = std::min(next, deadlines_.begin()->first);
  for (const server_listener& l : listeners_) next = std::min(next, l.paused_until);
  if (next == core::never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now_).count();
  constexpr std::int64_t longest = 60'000;
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, longest));
}

// --- the end -----------------------------------------------------------------------------------

template <class Do>
void server_loop::for_each_connection(Do what) {
  // What is done may move connections from one list to another.
  std::vector<server_connection*> all;
  for (server_listener& l : listeners_) {
    for (server_connection& c : l.connections) all.push_back(&c);
    for (server_connection& c : l.readers) all.push_back(&c);
  }
  for (server_connection* c : all) what(*c);
}

void server_loop::begin_shutdown() {
  stopping_ = true;
  close_all_at_ = now_ + http_server::shutdown_limit;
  for (server_listener& l : listeners_) l.close();
  for_each_connection([](server_connection& c) { c.finish(); });
}

void server_loop::close_all() {
  close_all_at_ = core::never;
  for_each_connection([](server_connection& c) { c.close(); });
}

bool server_loop::finished() const {
  return stopping_ && std::ranges::all_of(listeners_, [](const server_listener& l) {
           return l.connections.empty() && l.readers.empty();
         });
}

// --- for connections ---------------------------------------------------------------------------

std::string_view server_loop::date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_of_) date_ = date_text(date_of_ = now);
  return date_;
}

void server_loop::watch(int fd, std::uint32_t events, watched& by) {
  epoll_event wanted{.events = events, .data = {.ptr = &by}};
  TENURE_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &wanted) == 0);
}

void server_loop::change(int fd, std::uint32_t events, watched& by) {
  epoll_event wanted{.events = events, .data = {.ptr = &by}};
  TENURE_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &wanted) == 0);
}

void server_loop::unwatch(int fd) {
  TENURE_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr) == 0);
}

void server_loop::enqueue(server_connection& which) {
  if (which.queued_) return;
  which.queued_ = queue_.insert(queue_.end(), &which);
}

void server_loop::dequeue(server_connection& which) {
  if (which.queued_) queue_.erase(*which.queued_);
  which.queued_.reset();
}

void server_loop::await_answer(std::uint64_t number, server_connection& which) {
  awaiting_.emplace(number, &which);
}

void server_loop::forget_answer(std::uint64_t number) {
  awaiting_.erase(number);
}

void server_loop::retire(std::list<server_connection>& from, server_connection& which) {
  retired_.splice(retired_.end(), from, which.self_);
}

}  // namespace tenure::net
