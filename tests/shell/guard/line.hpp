#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "guard/guard_access.hpp"
#include "guard/packet_socket.hpp"
#include "shell/process.hpp"
#include "shell/world.hpp"

namespace tenure::shell {

/// A pair of connected sockets: packets keep their order, take their time, and there is room for so
/// many of them. Each end closes once.
class modelled_line : public std::enable_shared_from_this<modelled_line> {
 public:
  using packet = std::vector<std::byte>;

  modelled_line(world& in, std::size_t room, core::duration most_delay)
      : world_(in), room_(room), most_delay_(most_delay) {}

  /// What is at the guard's end may want to act: something has arrived, there is room again, or the
  /// agent has closed its end.
  std::function<void()> wakes_guard;

  // The guard's end.
  [[nodiscard]] bool guard_sends(packet what);
  [[nodiscard]] guard::packet_socket::received guard_receives(std::span<std::byte> into);
  void guard_stops_receiving();
  [[nodiscard]] bool guard_is_alone() const { return agent_closed_ || takes_nothing_; }
  [[nodiscard]] bool guard_can_read() const { return !to_guard_.arrived.empty() || agent_closed_; }
  [[nodiscard]] bool guard_has_room() const { return to_agent_.used() < room_; }
  void guard_closes();

  // The agent's end, on the agent's loop.
  void agent_opens(const std::shared_ptr<process>& loop,
                   guard::guard_connection::handlers handlers);
  [[nodiscard]] bool agent_sends(packet what);
  void agent_closes();

 private:
  struct direction {
    std::deque<packet> arrived;
    std::deque<packet> under_way;
    world_time last{};
    bool wants_room = false;  ///< of the sender
    [[nodiscard]] std::size_t used() const { return arrived.size() + under_way.size(); }
    void arrive(std::size_t count);
  };

  void carry(direction& over, packet what, std::function<void()> then);
  void agent_may_read();

  world& world_;
  std::size_t room_;
  core::duration most_delay_;
  direction to_guard_;
  direction to_agent_;
  std::weak_ptr<process> loop_;
  guard::guard_connection::handlers handlers_;
  bool guard_closed_ = false;
  bool takes_nothing_ = false;
  bool agent_closed_ = false;
  bool told_hung_up_ = false;
};

/// The guard's end.
class modelled_socket final : public guard::packet_socket {
 public:
  void attach(std::shared_ptr<modelled_line> line) { line_ = std::move(line); }
  [[nodiscard]] const std::shared_ptr<modelled_line>& line() const { return line_; }

  [[nodiscard]] bool is_open() const override { return line_ != nullptr; }
  void close() override {
    if (line_) line_->guard_closes();
    line_.reset();
  }
  [[nodiscard]] bool send(std::span<const std::byte> packet) override {
    return line_->guard_sends({packet.begin(), packet.end()});
  }
  [[nodiscard]] received receive(std::span<std::byte> into) override {
    return line_ ? line_->guard_receives(into) : received{};
  }
  void stop_receiving() override { line_->guard_stops_receiving(); }
  [[nodiscard]] bool hung_up() const override { return line_ && line_->guard_is_alone(); }

 private:
  std::shared_ptr<modelled_line> line_;
};

/// The agent's end.
class modelled_connection final : public guard::guard_connection {
 public:
  modelled_connection(std::shared_ptr<modelled_line> line, const std::shared_ptr<process>& loop)
      : line_(std::move(line)), loop_(loop) {}
  ~modelled_connection() override { line_->agent_closes(); }

  void open(handlers on) override { line_->agent_opens(loop_.lock(), std::move(on)); }
  void close() override { line_->agent_closes(); }
  [[nodiscard]] bool send(std::span<const std::byte> packet) override {
    return line_->agent_sends({packet.begin(), packet.end()});
  }

 private:
  std::shared_ptr<modelled_line> line_;
  std::weak_ptr<process> loop_;
};

}  // namespace tenure::shell
