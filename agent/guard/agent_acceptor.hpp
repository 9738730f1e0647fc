#pragma once

namespace tenure::guard {

/// At most this many connections are accepted per turn before the guard checks its deadline again:
/// if agents of another user are allowed, anybody can connect.
inline constexpr int most_connections_a_turn = 16;

/// Accepts agents that the guard did not start. `guard_acceptor` is the real implementation.
/// Nothing here allocates.
class agent_acceptor {
 public:
  virtual ~agent_acceptor() = default;

  /// Accepts the next agent that may connect. False: nobody waits, or `connections` is used up.
  /// Each accepted or rejected connection subtracts one from `connections`.
  [[nodiscard]] virtual bool next(int& connections) = 0;

  /// Sends both pages to the accepted agent and connects the guard's socket with it. False if it is
  /// gone already. Precondition: the socket is closed.
  [[nodiscard]] virtual bool welcome() = 0;

  /// Tells the accepted agent that the guard already has one.
  virtual void turn_away() = 0;
};

}  // namespace tenure::guard
