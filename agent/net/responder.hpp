#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "net/http_message.hpp"

namespace tenure::net {

/// One answer on its way to the connection that waits for it. Thread-safe.
class answer_slot {
 public:
  /// `wake` is called when there is something to look at, on the thread that has brought it, and
  /// never once the slot is closed. It must not call back into the slot.
  explicit answer_slot(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// The first answer counts; nothing: there will be none.
  void give(std::optional<response> what);

  /// True once something was given, be it nothing.
  [[nodiscard]] bool settled() const;

  /// What was given, if anything. What comes later is dropped.
  std::optional<response> close();

 private:
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::optional<response> given_;
  bool settled_ = false;
  bool closed_ = false;
};

/// Where the answer to one request goes, at once or later, from any thread.
///
/// It may be used at any time: when the client has gone, the deadline has passed or the server has
/// ended, the answer is dropped. One that is destroyed unused lets the client have a 503.
class responder {
 public:
  explicit responder(std::shared_ptr<answer_slot> into) : into_(std::move(into)) {}
  ~responder();
  responder(responder&&) noexcept = default;
  responder& operator=(responder&&) = delete;

  /// Answers. Once; later calls do nothing.
  void operator()(response what);

 private:
  std::shared_ptr<answer_slot> into_;
};

}  // namespace tenure::net
