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

/// A client of Consul that contends for one election, as a command `consul` does: a session of its
/// own, which it renews. When it holds, it acts for a while; then it releases, or dies without a
/// word and is started again later. It knows neither lock_delay nor release records.
///
/// It stops acting when its session has run out by its own count, from when a renewal was sent.
class foreign_contender {
 public:
  /// `number`: unique among pods and clients. Call `contend` once.
  foreign_contender(stage& s, std::size_t number, std::string election, std::uint64_t seed);
  virtual ~foreign_contender() = default;
  foreign_contender(const foreign_contender&) = delete;
  foreign_contender& operator=(const foreign_contender&) = delete;

  /// Makes a session, and asks for what it wants with that.
  void contend();
  /// It releases what it has, and does not contend any more.
  void retire();

 protected:
  using reply = std::expected<http::client_reply, http::client_error>;
  using answer = std::function<void(const reply&)>;

  /// Asks for what it wants, again and again, until `hold`.
  virtual void acquire() = 0;
  virtual void release() = 0;

  /// It has what it wants, by this key.
  void hold(const std::string& key);
  void stop_acting();
  void over();
  /// Asks any server. No answer within a second counts as an error.
  void call(http::client_request what, answer then);
  /// Calls `what` unless another attempt has begun, or it does not contend any more.
  void later(core::duration wait, std::function<void()> what);
  [[nodiscard]] bool may_act() const { return stage_.in.now < until_; }
  [[nodiscard]] std::string prefix() const { return "/v1/kv/" + election_ + "/"; }

  stage& stage_;
  std::size_t number_;
  std::string election_;
  rng dice_;
  std::string session_;
  const char* behavior_ = "release";

 private:
  void keep();

  core::duration ttl_{};
  std::uint64_t attempt_ = 0;
  world_time until_{};  ///< it may act
  bool acts_ = false;
  bool retired_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace tenure::shell
