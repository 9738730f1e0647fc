#include "shell/guard/line.hpp"

#include <algorithm>
#include <utility>

namespace tenure::shell {

using namespace std::chrono_literals;
using guard::packet_socket;

void modelled_line::carry(direction& over, packet what, std::function<void()> then) {
  over.under_way.push_back(std::move(what));
  over.last = std::max(over.last, world_.now + world_.dice.spread(1us, most_delay_));
  world_.at(over.last, [self = shared_from_this(), &over, then = std::move(then)] {
    over.arrive(over.under_way.empty() ? 0 : 1);
    then();
  });
}

void modelled_line::direction::arrive(std::size_t count) {
  for (; count > 0; --count) {
    arrived.push_back(std::move(under_way.front()));
    under_way.pop_front();
  }
}

bool modelled_line::guard_sends(packet what) {
  if (agent_closed_) return true;
  if (!guard_has_room()) {
    to_agent_.wants_room = true;
    return false;
  }
  carry(to_agent_, std::move(what), [this] { agent_may_read(); });
  return true;
}

packet_socket::received modelled_line::guard_receives(std::span<std::byte> into) {
  using reading = packet_socket::reading;
  if (to_guard_.arrived.empty()) {
    const bool over = guard_is_alone() && to_guard_.under_way.empty();
    return {.what = over ? reading::hung_up : reading::nothing};
  }
  const packet first = std::move(to_guard_.arrived.front());
  to_guard_.arrived.pop_front();
  std::ranges::copy_n(first.begin(),
                      static_cast<std::ptrdiff_t>(std::min(first.size(), into.size())),
                      into.begin());
  if (std::exchange(to_guard_.wants_room, false)) {
    if (const auto loop = loop_.lock()) {
      loop->post([self = shared_from_this()] {
        if (!self->agent_closed_) self->handlers_.writable();
      });
    }
  }
  return {.what = reading::packet, .size = first.size()};
}

/// What takes its time here is in the buffer of a real socket.
void modelled_line::guard_stops_receiving() {
  takes_nothing_ = true;
  to_guard_.arrive(to_guard_.under_way.size());
}

void modelled_line::guard_closes() {
  guard_closed_ = true;
  to_guard_.arrived.clear();
  agent_may_read();
}

void modelled_line::agent_opens(const std::shared_ptr<process>& loop,
                                guard::guard_connection::handlers handlers) {
  loop_ = loop;
  handlers_ = std::move(handlers);
  agent_may_read();
}

/// Each packet in a turn of the agent's loop; the end of the connection after the last.
void modelled_line::agent_may_read() {
  const auto loop = loop_.lock();
  if (!loop) return;
  loop->post([self = shared_from_this()] {
    while (!self->agent_closed_ && !self->to_agent_.arrived.empty()) {
      const packet first = std::move(self->to_agent_.arrived.front());
      self->to_agent_.arrived.pop_front();
      if (std::exchange(self->to_agent_.wants_room, false) && self->wakes_guard) {
        self->wakes_guard();
      }
      self->handlers_.packet(first);
    }
    const bool over = self->guard_closed_ && self->to_agent_.under_way.empty();
    if (over && !self->agent_closed_ && !std::exchange(self->told_hung_up_, true)) {
      self->handlers_.hung_up();
    }
  });
}

bool modelled_line::agent_sends(packet what) {
  if (guard_closed_ || takes_nothing_) return false;
  if (to_guard_.used() >= room_) {
    to_guard_.wants_room = true;
    return false;
  }
  carry(to_guard_, std::move(what), [this] {
    if (guard_closed_) to_guard_.arrived.clear();
    if (wakes_guard) wakes_guard();
  });
  return true;
}

void modelled_line::agent_closes() {
  if (std::exchange(agent_closed_, true)) return;
  to_agent_.arrived.clear();
  if (wakes_guard) wakes_guard();
}

}  // namespace tenure::shell
