#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "http/client/client_message.hpp"
#include "stage.hpp"

namespace tenure::shell {

/// A client of Consul that contends for one election, as `consul lock` does: a session of its own
/// with Consul's lock-delay, `acquire` again and again until it holds, renewals. It holds for a
/// while, then it releases, or dies without a word and is started again later. It knows neither
/// lock_delay nor release records.
///
/// It stops acting when its session has run out by its own count, from when a renewal was sent.
class foreign_locker {
 public:
  /// `number`: unique among pods and clients.
  foreign_locker(stage& s, std::size_t number, std::string election, std::uint64_t seed);
  foreign_locker(const foreign_locker&) = delete;
  foreign_locker& operator=(const foreign_locker&) = delete;

  /// It releases its lock, and does not contend any more.
  void retire();

 private:
  using reply = std::expected<http::client_reply, http::client_error>;
  using answer = std::function<void(const reply&)>;

  void contend();
  void acquire();
  void hold();
  void keep();
  void stop_acting();
  void release();
  void over();
  void destroy_session();
  /// Asks any server. No answer within a second counts as an error.
  void call(http::client_request what, answer then);
  /// Calls `what` unless another attempt has begun, or it does not contend any more.
  void later(core::duration wait, void (foreign_locker::*what)());
  [[nodiscard]] std::string key() const { return election_ + "/.lock"; }

  stage& stage_;
  std::size_t number_;
  std::string election_;
  rng dice_;
  core::duration ttl_{};
  std::string session_;
  std::uint64_t attempt_ = 0;
  world_time until_{};  ///< it may act
  bool acts_ = false;
  bool retired_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace tenure::shell
