#pragma once

#include <array>
#include <cstdint>

#include "message.hpp"
#include "stage.hpp"

namespace tenure::sim {

/// Everything between the agents and the store.
///
/// Requests and answers are lost, late, doubled and overtaken. A watch stream is what TCP makes
/// of that: in order, or broken, and the agent notices after a while.
class network {
 public:
  explicit network(stage& s) : stage_(s), slow_path_(s.drawn.always_slow) {}

  /// Sends a request of `m.pod` to the store.
  void to_store(const message& m);

  /// The request has reached a machine where no store runs.
  void refuse(const message& m) { request_failed(m); }

  /// Sends the answer to a request back to `m.pod`.
  void to_agent(const message& m);

  /// Sends an element of the watch stream of (`m.pod`, `m.election`), if one is open.
  void stream(const message& m);

  /// The store has accepted the watch that `m` asks for.
  void stream_opened(const message& m);
  [[nodiscard]] bool streaming(std::size_t pod, std::size_t election) const {
    return streams_[pod][election].open;
  }

  /// A heartbeat is due on a stream that was open when a partition began.
  void stream_checked(const entry& e);

  void cut(std::size_t pod, bool requests, bool answers);
  void heal(std::size_t pod) { links_[pod] = {}; }
  void storm(bool rages) { storm_ = rages; }
  void slow_path(bool slow) { slow_path_ = slow || stage_.drawn.always_slow; }
  /// The store process is gone, or back. Its connections end with it.
  void store_up(bool up);
  /// Another store has taken the place of the one that requests under way were sent to.
  void store_replaced();
  /// True if the store that `m` was sent to is there to receive it.
  [[nodiscard]] bool reaches_store(const message& m) const {
    return store_up_ && m.store_life == store_life_;
  }
  /// The agent process is gone, and its connections with it.
  void agent_gone(std::size_t pod);
  /// Nothing goes wrong any more.
  void calm();

 private:
  struct link {
    bool requests_cut = false;
    bool answers_cut = false;
  };
  struct stream_state {
    bool open = false;
    std::uint32_t id = 0;
    std::uint32_t process = 0;
    world_time last{};  ///< of the newest element; none overtakes another
  };

  [[nodiscard]] core::duration delay(mail kind);
  [[nodiscard]] bool loses(mail kind);
  void request_failed(const message& m);
  void break_stream(std::size_t pod, std::size_t election);
  void break_all_streams();

  stage& stage_;
  bool storm_ = false;
  bool slow_path_ = false;
  bool store_up_ = true;
  std::uint32_t store_life_ = 0;
  std::array<link, max_pods> links_{};
  std::array<std::array<stream_state, max_elections>, max_pods> streams_{};
};

}  // namespace tenure::sim
