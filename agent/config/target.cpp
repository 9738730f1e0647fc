#include <algorithm>
#include <array>

#include "config/provenance.hpp"
#include "config/suggest.hpp"

namespace tenure::config {
namespace {

constexpr std::array ways_to_find{setting::target_executable, setting::target_command_line,
                                  setting::target_pid_file};
constexpr std::array only_with_a_target{setting::target_uid, setting::while_standby,
                                        setting::on_gain, setting::gain_signal};

constexpr const char* three_ways = "target_executable, target_command_line or target_pid_file";

/// Without a target there is nothing to tell or to stop.
void check_without_target(provenance& known) {
  const auto bad = [&known](setting which) { return known.is_bad(which); };
  if (std::ranges::any_of(ways_to_find, bad)) return;
  for (const setting which : only_with_a_target) {
    if (!known.is_given(which)) continue;
    known.reject(which, key_of(which) + " is given, and nothing says what it is for",
                 std::string("give ") + three_ways + ", or remove it");
  }
}

void check_guard(const configuration& s, provenance& known) {
  if (!known.is_given(setting::guard_uid) || !s.guard_dir.empty()) return;
  if (known.is_bad(setting::guard_dir)) return;
  known.reject(setting::guard_uid, "guard_uid is given, and guard_dir is not",
               "give guard_dir, the directory where the guard is found, or remove it");
}

void check_gain(const settings::target& t, const settings::hooks& with, provenance& known) {
  const bool signals = t.on_gain == settings::on_gain::signal;
  if (signals && known.is_missing(setting::gain_signal)) {
    known.reject(setting::on_gain, "on_gain is signal, but gain_signal is missing",
                 "give a signal that the workload handles, such as gain_signal USR1");
  }
  if (!signals && known.is_given(setting::gain_signal) && !known.is_bad(setting::on_gain)) {
    known.reject(setting::gain_signal, "gain_signal is given, but on_gain is nothing",
                 "give on_gain signal, or remove it");
  }
  if (known.is_bad(setting::while_standby) || known.is_bad(setting::on_gain)) return;
  const bool runs = t.while_standby == settings::on_standby::run;
  if (signals && !runs) {
    known.reject(setting::on_gain,
                 "on_gain is signal, but while_standby is stop: what begins while we are active "
                 "needs no telling",
                 "give while_standby run, or remove on_gain");
  }
  if (!signals && runs && !with.gain()) {
    known.warn(setting::while_standby,
               "while_standby is run, and nothing tells the workload that it is active",
               "give on_gain signal, or gain_http, gain_command or gain_file, unless it asks the "
               "API");
  }
}

}  // namespace

void check_target(const configuration& s, provenance& known) {
  check_guard(s, known);
  if (!s.target.given()) return check_without_target(known);
  const setting* first = nullptr;
  for (const setting& which : ways_to_find) {
    if (!known.is_given(which)) continue;
    if (first != nullptr) {
      known.reject(which, key_of(*first) + " and " + key_of(which) + " are both given",
                   "one finds the workload, and what belongs to it; remove the other");
    } else {
      first = &which;
    }
  }
  if (s.elections.size() > 1) {
    known.reject(*first,
                 key_of(*first) + " is given, and there are " + std::to_string(s.elections.size()) +
                     " elections",
                 "one workload belongs to one election");
  }
  if (s.observe) {
    known.reject(*first, key_of(*first) + " is given, and observe is true: it could never run",
                 "remove one of them");
  }
  check_gain(s.target, s.hooks, known);
}

parsed<std::string> parse_program(std::string_view text) {
  constexpr const char* hint = "give its absolute path, or its name alone";
  if (text.empty()) return wrong("is empty", hint);
  if (text.size() > max_path_bytes) {
    return wrong("is " + std::to_string(text.size()) + " bytes long", hint);
  }
  if (std::ranges::any_of(text, is_control)) {
    return wrong("is " + quote(text) + ", which has a control character in it", hint);
  }
  if (text.ends_with('/')) return wrong("is " + quote(text) + ", which is a directory", hint);
  if (text.contains('/') && !text.starts_with('/')) {
    return wrong("is " + quote(text) + ", which depends on a directory to begin in", hint);
  }
  return std::string(text);
}

parsed<std::string> parse_command_line(std::string_view text) {
  constexpr const char* hint = "give what ps -o args shows, or its beginning in whole arguments";
  if (text.empty()) return wrong("is empty", hint);
  if (text.size() > max_path_bytes) {
    return wrong("is " + std::to_string(text.size()) + " bytes long",
                 "give its beginning, no more than " + std::to_string(max_path_bytes));
  }
  if (std::ranges::any_of(text, is_control)) {
    return wrong("is " + quote(text) +
                     ", which has a control character in it, such as the end "
                     "of a line",
                 hint);
  }
  if (text.starts_with(' ') || text.ends_with(' ')) {
    return wrong("is " + quote(text) + ", which begins or ends with a blank", "take it out");
  }
  return std::string(text);
}

}  // namespace tenure::config
