#pragma once

#include <map>
#include <string>

namespace tenure::core::testing {

/// What each state answers to each event. What is not listed changes nothing: no command, no
/// phase. The lease was sent at 0 s, now is 1 s.
inline const std::map<std::string, std::map<std::string, std::string>>& answers() {
  static const std::map<std::string, std::map<std::string, std::string>> table{
      {"new",
       {
           {"started", "watch, publish, acquire"},
           {"shutdown",
            "candidate > draining: shutdown, publish, draining > stopped: shutdown, publish, "
            "finished: shutdown"},
       }},
      {"observer",
       {
           {"shows us", "publish"},
           {"shows other", "publish"},
           {"shows free", "publish"},
           {"watch failed", "watch"},
           {"shutdown",
            "observer > draining: shutdown, publish, draining > stopped: shutdown, publish, "
            "finished: shutdown"},
       }},
      {"asking",
       {
           {"granted", "candidate > pending, publish"},
           {"granted clean", "candidate > active, publish, arm 5 until 14.35s, start 5"},
           {"shows us", "publish"},
           {"shows other", "publish"},
           {"shows free", "publish"},
           {"watch failed", "watch"},
           {"shutdown", "candidate > draining: shutdown, publish"},
       }},
      {"refused",
       {
           {"granted", "acquire"},
           {"granted clean", "acquire"},
           {"granted late", "acquire"},
           {"shows us", "publish, acquire"},
           {"shows other", "publish"},
           {"shows free", "publish, acquire"},
           {"watch failed", "watch"},
           {"shutdown",
            "candidate > draining: shutdown, publish, draining > stopped: shutdown, publish, "
            "finished: shutdown"},
       }},
      {"retrying",
       {
           {"granted", "acquire"},
           {"granted clean", "acquire"},
           {"granted late", "acquire"},
           {"shows us", "publish, acquire"},
           {"shows other", "publish"},
           {"shows free", "publish, acquire"},
           {"watch failed", "watch"},
           {"unhealthy", "release any"},
           {"resign", "release any"},
           {"shutdown", "candidate > draining: shutdown, publish, release any"},
       }},
      {"aside",
       {
           {"granted", "release any"},
           {"granted clean", "release any"},
           {"granted late", "release any"},
           {"shows us", "publish, release any"},
           {"shows other", "publish"},
           {"shows free", "publish"},
           {"watch failed", "watch"},
           {"shutdown",
            "candidate > draining: shutdown, publish, draining > stopped: shutdown, publish, "
            "finished: shutdown"},
       }},
      {"sick",
       {
           {"granted", "release any"},
           {"granted clean", "release any"},
           {"granted late", "release any"},
           {"shows us", "publish, release any"},
           {"shows other", "publish"},
           {"shows free", "publish"},
           {"watch failed", "watch"},
           {"shutdown",
            "candidate > draining: shutdown, publish, draining > stopped: shutdown, publish, "
            "finished: shutdown"},
       }},
      {"pending",
       {
           {"renewed", "publish"},
           {"lost",
            "pending > draining: session_invalid, publish, "
            "draining > candidate: session_invalid, publish"},
           {"shows us", "publish"},
           {"shows other",
            "publish, pending > draining: taken_over, publish, "
            "draining > candidate: taken_over, publish"},
           {"shows free",
            "publish, pending > draining: revoked, publish, draining > candidate: revoked, "
            "publish"},
           {"watch failed", "watch"},
           {"unhealthy", "pending > draining: unhealthy, publish, release 5"},
           {"resign", "pending > draining: resigned, publish, release 5"},
           {"shutdown", "pending > draining: shutdown, publish, release 5"},
       }},
      {"starting",
       {
           {"renewed", "arm 5 until 14.85s, publish"},
           {"lost", "active > draining: session_invalid, publish, stop by 1s: session_invalid"},
           {"shows us", "publish"},
           {"shows other",
            "publish, active > draining: taken_over, publish, stop by 1s: taken_over"},
           {"shows free", "publish, active > draining: revoked, publish, stop by 1s: revoked"},
           {"watch failed", "watch"},
           {"workload started", "publish"},
           {"workload exited", "publish, active > draining: workload_exited, publish, release 5"},
           {"unhealthy", "active > draining: unhealthy, publish, stop by 21s: unhealthy"},
           {"resign", "active > draining: resigned, publish, stop by 21s: resigned"},
           {"shutdown", "active > draining: shutdown, publish, stop by 21s: shutdown"},
       }},
      {"running",
       {
           {"renewed", "arm 5 until 14.85s, publish"},
           {"lost", "active > draining: session_invalid, publish, stop by 1s: session_invalid"},
           {"shows us", "publish"},
           {"shows other",
            "publish, active > draining: taken_over, publish, stop by 1s: taken_over"},
           {"shows free", "publish, active > draining: revoked, publish, stop by 1s: revoked"},
           {"watch failed", "watch"},
           {"workload exited", "publish, active > draining: workload_exited, publish, release 5"},
           {"unhealthy", "active > draining: unhealthy, publish, stop by 21s: unhealthy"},
           {"resign", "active > draining: resigned, publish, stop by 21s: resigned"},
           {"shutdown", "active > draining: shutdown, publish, stop by 21s: shutdown"},
       }},
      {"readers",
       {
           {"renewed", "publish"},
           {"lost",
            "active > draining: session_invalid, publish, "
            "draining > candidate: session_invalid, publish"},
           {"shows us", "publish"},
           {"shows other",
            "publish, active > draining: taken_over, publish, "
            "draining > candidate: taken_over, publish"},
           {"shows free",
            "publish, active > draining: revoked, publish, draining > candidate: revoked, "
            "publish"},
           {"watch failed", "watch"},
           {"unhealthy", "active > draining: unhealthy, publish"},
           {"resign", "active > draining: resigned, publish"},
           {"shutdown", "active > draining: shutdown, publish"},
       }},
      {"stopping",
       {
           {"renewed", "arm 5 until 14.85s, publish"},
           {"lost", "stop by 1s: session_invalid"},
           {"shows us", "publish"},
           {"shows other", "publish, stop by 1s: taken_over"},
           {"shows free", "publish, stop by 1s: revoked"},
           {"watch failed", "watch"},
           {"workload exited", "publish, release 5"},
       }},
      {"stopping lost",
       {
           {"shows us", "publish"},
           {"shows other", "publish"},
           {"shows free", "publish"},
           {"watch failed", "watch"},
           {"workload exited", "publish, draining > candidate: session_invalid, publish"},
       }},
      {"releasing",
       {
           {"lost", "draining > candidate: resigned, publish"},
           {"shows us", "publish"},
           {"shows other", "publish, draining > candidate: resigned, publish"},
           {"shows free", "publish, draining > candidate: resigned, publish"},
           {"watch failed", "watch"},
           {"released", "draining > candidate: resigned, publish"},
       }},
      {"releasing again",
       {
           {"lost", "draining > candidate: resigned, publish"},
           {"shows us", "publish"},
           {"shows other", "publish, draining > candidate: resigned, publish"},
           {"shows free", "publish, draining > candidate: resigned, publish"},
           {"watch failed", "watch"},
       }},
      {"ending",
       {
           {"granted", "release any"},
           {"granted clean", "release any"},
           {"refused", "draining > stopped: shutdown, publish, finished: shutdown"},
           {"acquire unknown", "release any"},
           {"shows us", "publish"},
           {"shows other", "publish"},
           {"shows free", "publish"},
           {"watch failed", "watch"},
       }},
      {"stopped",
       {
           {"shows us", "publish"},
           {"shows other", "publish"},
           {"shows free", "publish"},
       }},
  };
  return table;
}

}  // namespace tenure::core::testing
