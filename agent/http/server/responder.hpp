#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "http/server/answer.hpp"

namespace tenure::http {

/// One answer on its way to the connection that waits for it. Thread-safe, but for `reset`.
class answer_slot {
 public:
  /// The first answer counts; nothing: there will be none.
  void give(std::optional<answer> what);

  /// True once something was given, be it nothing.
  [[nodiscard]] bool settled() const;

  /// Has `wake` called when something is given, on the thread that brings it, and never once the
  /// slot is closed; it must not call back into the slot. False if it has come already: then
  /// nobody is woken.
  bool await(std::function<void()> wake);

  /// What was given, if anything. What comes later is dropped.
  std::optional<answer> close();

  /// As new. Precondition: closed, and nobody else has it.
  void reset();

 private:
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::optional<answer> given_;
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
  void operator()(answer what);

 private:
  std::shared_ptr<answer_slot> into_;
};

}  // namespace tenure::http
