#include <algorithm>
#include <array>

#include "config/provenance.hpp"

namespace tenure::config {
namespace {

using namespace std::chrono_literals;

constexpr std::array kinds{setting::health_http, setting::health_command, setting::health_file};
constexpr std::array numbers{setting::health_file_age, setting::health_while,
                             setting::health_interval, setting::health_timeout,
                             setting::health_failures, setting::health_successes,
                             setting::health_delay};

constexpr core::duration usual_timeout = 1s;
constexpr core::duration least_interval = 100ms;
constexpr core::duration most_interval = 1h;
constexpr core::duration least_timeout = 50ms;
constexpr core::duration most_delay = 24h;
constexpr core::duration least_age = 1s;
constexpr core::duration most_age = 24h;
/// A shorter failure is a burst of load or a garbage collection, and not worth a fail-over.
constexpr core::duration hiccup = 1s;
/// A health check that notices a failure later than this is of little use.
constexpr core::duration too_late = 10min;

/// Lives for one call of `check_health`.
class health_check {
 public:
  health_check(configuration& s, provenance& known) : s_(s), h_(s.health), known_(known) {}

  void run() {
    if (!known_.is_given(setting::health_timeout)) {
      h_.timeout = std::min(usual_timeout, h_.interval);
    }
    check_use();
    check_ranges();
    if (h_.is_checked() && all_good_) check_detection();
  }

 private:
  void check_use() {
    const auto is_given = [this](setting which) { return known_.is_given(which); };
    const auto is_bad = [this](setting which) { return known_.is_bad(which); };
    const auto kind = std::ranges::find_if(kinds, is_given);
    if (kind != kinds.end() && s_.observe) {
      known_.reject(*kind, key_of(*kind) + " is given, and an observer never holds a lease",
                    "remove it, or remove observe");
    }
    if (std::ranges::any_of(kinds, is_bad)) return;
    const auto number = std::ranges::find_if(numbers, is_given);
    if (kind == kinds.end() && number != numbers.end()) {
      known_.reject(*number, key_of(*number) + " is given, but nothing is checked",
                    "give health_http, health_command or health_file, or remove it");
    } else if (h_.file_age && h_.file.empty()) {
      known_.reject(setting::health_file_age, "health_file_age is given without health_file",
                    "name the file, or remove it");
    }
  }

  void check_ranges() {
    in_range(setting::health_interval, h_.interval, least_interval, most_interval);
    in_range(setting::health_delay, h_.delay, 0s, most_delay);
    if (h_.file_age) in_range(setting::health_file_age, *h_.file_age, least_age, most_age);
    if (!all_good_ || known_.is_bad(setting::health_interval)) return;
    if (h_.timeout > h_.interval) {
      all_good_ = false;
      known_.reject(
          setting::health_timeout,
          "health_timeout " + core::text(h_.timeout) + " is longer than health_interval " +
              core::text(h_.interval) + ": a check would still run when the next is due",
          "give a timeout of at most " + core::text(h_.interval) + ", or a longer interval");
      return;
    }
    in_range(setting::health_timeout, h_.timeout, least_timeout, h_.interval);
  }

  void in_range(setting which, core::duration value, core::duration least, core::duration most) {
    if (value >= least && value <= most) return;
    all_good_ = false;
    known_.reject(which,
                  key_of(which) + " is " + core::text(value) + "; it must be from " +
                      core::text(least) + " to " + core::text(most),
                  "");
  }

  void check_detection() {
    const core::duration all = h_.failures * h_.interval;
    const std::string sum = "health_failures " + std::to_string(h_.failures) +
                            " x health_interval " + core::text(h_.interval) + " = " +
                            core::text(all);
    const setting which = known_.is_given(setting::health_failures) ? setting::health_failures
                                                                    : setting::health_interval;
    if (all < hiccup) {
      known_.warn(which, sum + ": a hiccup of that length gives the lease away",
                  "let them come to " + core::text(hiccup) + " or more");
    } else if (all > too_late) {
      known_.warn(which, sum + ": a workload that fails keeps the lease for so long",
                  "let them come to " + core::text(too_late) + " or less");
    }
  }

  configuration& s_;
  settings::health& h_;
  provenance& known_;
  bool all_good_ = true;
};

}  // namespace

void check_health(configuration& s, provenance& known) {
  health_check(s, known).run();
}

}  // namespace tenure::config
