#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "http/client/http_client.hpp"
#include "lease_model.hpp"
#include "support/hand_loop.hpp"

namespace tenure::tests {

/// A fake: API servers in the time of a hand-moved loop, and the network in front of them. They
/// share one `lease_model`.
class virtual_kubernetes {
 public:
  explicit virtual_kubernetes(hand_loop& on) : loop_(on) {}

  /// For the store's client.
  http::http_connector connector();

  /// What is kept. Call `show` after a change.
  lease_model& model() { return model_; }
  [[nodiscard]] const lease_model& model() const { return model_; }
  /// Shows the watches what has changed, all of it in one piece.
  void show();

  /// The wall clock of members and servers.
  [[nodiscard]] std::int64_t wall_ms() const;

  /// From now on requests of this name are answered so; the clients wait a millisecond for each
  /// answer. Nothing: no answer ever.
  using answer = std::function<std::optional<http::client_reply>(const http::client_request&)>;
  void on(const std::string& name, answer how) { told_[name] = std::move(how); }
  void repent() { told_.clear(); }
  /// The host of the server that is asked now.
  [[nodiscard]] const std::string& asked() const { return asked_; }
  /// What the model answers.
  http::client_reply truth(const http::client_request& what);

  /// Requests of this name so far.
  [[nodiscard]] int count(const std::string& name) const;
  /// The targets of all watches so far.
  [[nodiscard]] const std::vector<std::string>& watched() const { return watched_; }

  /// A balancer in between cuts connections that were silent for so long, and all that are so old.
  void cut_silent_after(core::duration time) { silent_for_ = time; }
  void cut_old_after(core::duration time) { old_after_ = time; }
  /// Cuts the oldest watches now; the newest ones stay, as many as told.
  void cut_watches(std::size_t but_newest = 0);
  [[nodiscard]] std::size_t open_watches() const { return open_.size(); }

 private:
  friend class virtual_client;
  friend class virtual_stream;
  struct open_watch {
    explicit open_watch(base::event_loop& on) : cut(on) {}
    std::string target;
    std::uint64_t known = 0;
    http::stream_handlers on;
    core::time_point opened_at{};
    base::timer cut;
  };
  using watch_ptr = std::shared_ptr<open_watch>;

  void send(const http::client_request& what, http::reply_handler done);
  watch_ptr open(const http::client_request& what, http::stream_handlers on);
  void begin(const watch_ptr& which, const http::client_request& what);
  void show(const watch_ptr& which);
  void cut_later(const watch_ptr& which);
  void cut(const watch_ptr& which);
  [[nodiscard]] bool is_open(const watch_ptr& which) const;

  hand_loop& loop_;
  std::string asked_;
  lease_model model_;
  std::map<std::string, answer> told_;
  std::map<std::string, int> count_;
  std::vector<std::string> watched_;
  std::list<watch_ptr> open_;
  core::duration silent_for_ = std::chrono::hours(1000);
  core::duration old_after_ = std::chrono::hours(1000);
};

/// "503" with this body.
http::client_reply virtual_reply(unsigned status, std::string body,
                                 std::vector<http::header> headers = {});

}  // namespace tenure::tests
