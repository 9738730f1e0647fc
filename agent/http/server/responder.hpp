#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "http/server/answer.hpp"

namespace tenure::http {

/// One answer on its way to the connection that waits for it. Thread-safe, except `reset`.
class answer_slot {
 public:
  /// Gives the answer. Only the first one counts; nothing: there will be none.
  void give(std::optional<answer> what);

  /// True once an answer, or nothing, was given.
  [[nodiscard]] bool settled() const;

  /// Calls `wake` when an answer is given, on the thread that gives it, and never once the slot is
  /// closed; `wake` must not call back into the slot. False if the answer is there already: then
  /// `wake` is not called.
  bool await(std::function<void()> wake);

  /// Returns the answer, if any. Later ones are dropped.
  std::optional<answer> close();

  /// Makes the slot as new. Precondition: closed, and nobody else has it.
  void reset();

 private:
  mutable std::mutex mutex_;
  std::function<void()> wake_;
  std::optional<answer> given_;
  bool settled_ = false;
  bool closed_ = false;
};

/// Takes the answer to one request, at once or later, from any thread.
///
/// May be used at any time: if the client is gone, the deadline has passed or the server has ended,
/// the answer is dropped. If a responder is destroyed unused, the client gets a 503.
class responder {
 public:
  explicit responder(std::shared_ptr<answer_slot> into) : into_(std::move(into)) {}
  ~responder();
  responder(responder&&) noexcept = default;
  responder& operator=(responder&&) = delete;

  /// Answers. Later calls do nothing.
  void operator()(answer what);

 private:
  std::shared_ptr<answer_slot> into_;
};

}  // namespace tenure::http
