#pragma once

namespace tenure::guard {

/// So many that knock are answered before the guard looks at its deadline again: anybody may knock
/// if an agent of another user is let in.
inline constexpr int most_knocks_a_turn = 16;

/// Agents that wait to come in although the guard has not started them. `guard_acceptor` is the
/// real one. Nothing here allocates.
class agent_acceptor {
 public:
  virtual ~agent_acceptor() = default;

  /// Lets the next one come that may. False: nobody waits, or `knocks` were answered. Each one that
  /// is answered is taken off that.
  [[nodiscard]] virtual bool next(int& knocks) = 0;

  /// The one that has come gets both pages, and the guard's socket is connected with it. False if
  /// it is gone already. Precondition: the socket is closed.
  [[nodiscard]] virtual bool welcome() = 0;

  /// The one that has come is told that another one is here.
  virtual void turn_away() = 0;
};

}  // namespace tenure::guard
