#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tenure::settings {

enum class on_standby : std::uint8_t { stop, run };
enum class on_gain : std::uint8_t { nothing, signal };

/// A workload that another program starts, such as the kubelet in the container beside ours: how
/// its processes are found, and what happens to them.
struct target {
  enum class kind : std::uint8_t {
    executable,    ///< the program's path if `value` has a slash, else its last name
    command_line,  ///< its first arguments, as `ps -o args` shows them
    pid_file,      ///< the path of a file that holds the process id
  };
  kind by = kind::executable;
  std::string value{};  ///< empty: there is no such workload
  /// The user whose processes may belong to it, beside our own user and root. Not given: a process
  /// of another user is neither taken for the workload nor ignored.
  std::optional<std::uint32_t> uid{};
  on_standby while_standby = on_standby::stop;
  settings::on_gain on_gain = settings::on_gain::nothing;
  int gain_signal = 0;  ///< a signal number, given if and only if `on_gain` is signal

  [[nodiscard]] bool given() const { return !value.empty(); }

  friend bool operator==(const target&, const target&) = default;
};

}  // namespace tenure::settings
