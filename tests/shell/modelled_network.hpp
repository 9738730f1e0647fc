#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/client/http_client.hpp"
#include "modelled_cluster.hpp"
#include "process.hpp"

namespace tenure::shell {

inline constexpr std::size_t most_pods = 4;

enum class direction { to_server, to_agent };

/// What is between the agents and the servers. TCP: what is sent on one connection arrives in its
/// order, late, or not at all, and then the connection is broken.
class modelled_network {
 public:
  modelled_network(world& in, modelled_cluster& servers) : world_(in), servers_(servers) {}

  /// No byte passes between this pod and this server, until it does again.
  void cut(std::size_t pod, std::size_t server) {
    cut(pod, server, direction::to_server);
    cut(pod, server, direction::to_agent);
  }
  /// What goes the other way arrives.
  void cut(std::size_t pod, std::size_t server, direction which);
  void heal(std::size_t pod, std::size_t server);
  /// When a server sent the newest of what this pod's streams had brought by then; `world_never`:
  /// nobody knows.
  [[nodiscard]] world_time news_from(std::size_t pod, world_time by) const;
  /// A pod out of descriptors, without a name server, or whose certificates have run out: no new
  /// connection, and those that stand go on.
  void refuse_dials(std::size_t pod, bool on) { refuses_dials_[pod] = on; }
  /// The servers close connections of this pod on which nothing is asked.
  void close_idle(std::size_t pod) { ++idle_closed_[pod]; }
  /// Each message takes up to this long.
  void slow(std::size_t pod, std::size_t server, core::duration most) {
    of(pod, server).most_delay = most;
  }

  /// Called before an agent gets the answer to a request for this target; may be empty.
  std::function<void(std::size_t pod, const std::string& target, world_time asked_at,
                     const http::client_reply&)>
      hears;

  /// Answers to what this pod asks of `target`, a part of a path, come later by so much; zero: no
  /// more.
  void answer_late(std::size_t pod, std::string target, core::duration by) {
    late_[pod] = {.target = std::move(target), .by = by};
  }

  /// Clients of the servers for one agent: that of "http://N.store:2379" talks to server N.
  http::http_connector connector(std::size_t pod, const std::shared_ptr<process>& agent);

 private:
  friend class modelled_client;
  friend class modelled_stream;

  struct link {
    [[nodiscard]] bool is_cut(direction which) const {
      return cut_off[static_cast<std::size_t>(which)];
    }

    std::array<bool, 2> cut_off{};  ///< by direction
    std::uint64_t cuts = 0;
    core::duration most_delay = std::chrono::milliseconds(2);
    std::vector<world::task> held;  ///< until it is healed
  };

  struct lateness {
    std::string target;
    core::duration by{};
  };

  void note_news(std::size_t pod, world_time sent_at);
  [[nodiscard]] core::duration lateness_of(std::size_t pod, const std::string& target) const {
    return target.contains(late_[pod].target) ? late_[pod].by : core::duration{};
  }
  link& of(std::size_t pod, std::size_t server) { return links_[pod][server]; }
  /// One message of its own: what is sent into a cut is lost, or comes when that is healed.
  void carry(std::size_t pod, std::size_t server, direction where, world::task arrive);

  world& world_;
  modelled_cluster& servers_;
  std::array<std::array<link, modelled_cluster::most_servers>, most_pods> links_;
  std::array<lateness, most_pods> late_;
  /// What a stream has brought.
  struct news {
    world_time read_at;
    world_time sent_at;
  };
  static constexpr std::size_t most_news = 64;
  std::array<std::deque<news>, most_pods> news_{};
  std::array<bool, most_pods> refuses_dials_{};
  std::array<std::uint64_t, most_pods> idle_closed_{};  ///< how often
};

}  // namespace tenure::shell
