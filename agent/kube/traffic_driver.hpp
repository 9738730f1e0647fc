#pragma once

#include <cstdint>
#include <functional>

#include "base/event_loop.hpp"
#include "kube/api_server.hpp"
#include "kube/codec.hpp"
#include "kube/lines.hpp"
#include "kube/traffic_switch.hpp"

namespace tenure::kube {

/// Turns a `traffic_switch`: tells it what the election wants, and carries out its requests.
///
/// On the election thread only. Nothing waits for it but the end of the agent, for a moment.
class traffic_driver {
 public:
  struct parts {
    base::event_loop& loop;
    api_server& through;
    log::logger& to;
    pod_speaker by;
    /// What is wanted now. Asked before each step.
    std::function<traffic_wish()> wanted;
    std::function<void(bool)> named;        ///< whether this pod is named has changed
    std::function<void()> failed;           ///< a request has failed
    std::function<std::int64_t()> unix_ms;  ///< the wall clock
    core::duration patience;                ///< how long one request may take
  };

  explicit traffic_driver(parts with);
  traffic_driver(const traffic_driver&) = delete;
  traffic_driver& operator=(const traffic_driver&) = delete;

  /// What is wanted may have changed.
  void look();

  /// True if what is wanted is shown.
  [[nodiscard]] bool is_settled() const { return switch_.is_settled(); }
  /// Calls this each time when a step has ended. Empty: no more.
  void on_step(std::function<void()> what) { stepped_ = std::move(what); }

  /// Asks for nothing more.
  void close();

 private:
  template <class Input>
  void step(Input input);
  void carry_out(const traffic_effects& what);
  void send(const traffic_request& what);
  void answered(const traffic_request& asked, api_reply what);

  parts with_;
  traffic_terms terms_;
  traffic_switch switch_;
  base::timer timer_;
  std::function<void()> stepped_{};
  bool was_named_ = false;
  bool closed_ = false;
};

}  // namespace tenure::kube
