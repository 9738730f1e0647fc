#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "guard/guard_access.hpp"
#include "guard/guard_protocol.hpp"

namespace tenure::workload {

/// The agent's messages to its guard. Each kind of message has one place, where the newest waits
/// until the connection takes it. Waiting messages are sent in the order of the places.
class guard_outbox {
 public:
  enum class place : std::uint8_t { hello, log, armed, start, stop, bye };

  explicit guard_outbox(guard::guard_connection& to) : to_(to) {}

  template <guard::guard_message M>
  void send(place where, const M& what, const std::string& tail = {}) {
    put(where, guard::sealed(what, tail.size()), tail);
    flush();
  }

  /// Drops the message that waits in this place.
  void take_back(place what) { unsent_[static_cast<std::size_t>(what)].clear(); }

  /// True while a message is in this place that was not sent.
  [[nodiscard]] bool waits(place what) const {
    return !unsent_[static_cast<std::size_t>(what)].empty();
  }

  /// The connection is writable again.
  void has_room() {
    waits_for_room_ = false;
    flush();
  }

  /// The guard is gone: sends nothing any more.
  void close() { closed_ = true; }

 private:
  template <class M>
  void put(place where, const M& complete, const std::string& tail) {
    std::vector<std::byte>& to = unsent_[static_cast<std::size_t>(where)];
    const auto head = std::as_bytes(std::span(&complete, 1));
    const auto rest = std::as_bytes(std::span(tail));
    to.assign(head.begin(), head.end());
    to.insert(to.end(), rest.begin(), rest.end());
  }

  void flush() {
    if (closed_ || waits_for_room_) return;
    for (std::vector<std::byte>& one : unsent_) {
      if (one.empty()) continue;
      if (!to_.send(one)) {
        waits_for_room_ = true;
        return;
      }
      one.clear();
    }
  }

  guard::guard_connection& to_;
  std::array<std::vector<std::byte>, 6> unsent_;
  bool waits_for_room_ = false;
  bool closed_ = false;
};

}  // namespace tenure::workload
