#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "http/client/http_client.hpp"

namespace tenure::stores {

/// The status with which a server says that it has too much to do.
inline constexpr unsigned status_busy = 429;

/// How long to wait by a reply with that status (`Retry-After`): at least 200 ms, at most a minute.
core::duration retry_after(const http::reply_head& what);

/// Which servers of a store have said that they have too much to do, and until when. A call goes to
/// another one meanwhile, or waits.
///
/// Used on its loop only. Nothing is called after `close`.
class busy_servers {
 public:
  busy_servers(base::event_loop& on, std::size_t servers) : loop_(on), all_(servers) {}

  /// `why`: what it has said, for a person.
  void is_busy(std::size_t server, core::duration pause, std::string why);
  /// It has answered something else.
  void answered(std::size_t server) { all_[server].until = core::time_point::min(); }

  /// This server, or the next one that is not busy; this one if all are.
  [[nodiscard]] std::size_t ready_from(std::size_t server) const;
  [[nodiscard]] bool is_busy(std::size_t server) const { return loop_.now() < until(server); }
  /// When it wants to be asked again.
  [[nodiscard]] core::time_point until(std::size_t server) const { return all_[server].until; }
  [[nodiscard]] const std::string& why(std::size_t server) const { return all_[server].why; }

  /// What a call knows of its waiting.
  struct patience {
    bool has_waited = false;  ///< so its failure is that the server is busy
    bool presses = false;     ///< it goes to a busy server now
    bool has_pressed = false;
  };
  /// Calls `again` when this server wants to be asked again, and up to a quarter of that time
  /// later, or at the deadline. An urgent call, without which a lease would run out for certain,
  /// presses once when half of its time is over.
  void wait(std::size_t server, core::time_point deadline, bool is_urgent, patience& of,
            base::event_loop::task again);

  void close() { waiting_.clear(); }

 private:
  struct server {
    core::time_point until = core::time_point::min();  ///< by its own word
    std::string why{};
  };

  base::event_loop& loop_;
  std::vector<server> all_;
  std::list<base::timer> waiting_;
};

}  // namespace tenure::stores
