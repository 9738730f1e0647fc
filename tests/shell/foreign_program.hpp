#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "http/client/client_message.hpp"
#include "stage.hpp"

namespace tenure::shell {

/// A program that is not ours and contends for one election: how it asks, waits, acts and begins
/// anew. What it asks for is that of its kind.
///
/// It has one attempt after the other, and hears nothing more of one that is over.
class foreign_program {
 public:
  foreign_program(const foreign_program&) = delete;
  foreign_program& operator=(const foreign_program&) = delete;

 protected:
  using reply = std::expected<http::client_reply, http::client_error>;
  using answer = std::function<void(const reply&)>;

  static constexpr core::duration patience = std::chrono::seconds(1);

  /// `number`: unique among pods and clients.
  foreign_program(stage& s, std::size_t number, std::string election, std::uint64_t seed)
      : stage_(s), number_(number), election_(std::move(election)), dice_(seed) {}
  ~foreign_program() = default;

  /// Asks any server. No answer within `patience` counts as an error.
  void call(http::client_request what, answer then);
  /// Calls `what` unless another attempt has begun, or it does not contend any more.
  void later(core::duration wait, std::function<void()> what);
  void begin_attempt() { ++attempt_; }

  /// True until what it was granted has run out by its own count.
  [[nodiscard]] bool may_act() const { return stage_.in.now < until_; }
  void may_act_until(world_time when) { until_ = when; }
  /// Calls `then` when that time is over, unless it was put off, or another attempt has begun.
  void once_over(std::function<void()> then);
  /// It has what it wants, by this key. `owner`: its name, where others' terms may have that key.
  void act(const std::string& key, const std::string& owner = "");
  [[nodiscard]] bool acts() const { return acts_; }
  void stop_acting();

  /// Ends this attempt without a word, and calls `start` after a while.
  void begin_anew(std::function<void()> start);
  /// Does not contend any more; it may still ask.
  void stop_for_good();
  [[nodiscard]] bool has_stopped() const { return retired_; }

  stage& stage_;
  std::size_t number_;
  std::string election_;
  rng dice_;

 private:
  world_time until_{};
  std::uint64_t attempt_ = 0;
  bool acts_ = false;
  bool retired_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace tenure::shell
