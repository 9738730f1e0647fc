#pragma once

#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "agenda.hpp"
#include "message.hpp"
#include "mix.hpp"
#include "referee.hpp"
#include "rng.hpp"
#include "trace.hpp"

namespace tenure::sim {

/// Who a session belongs to; its place in `stage::identities`.
struct identity {
  std::string name;
  std::uint8_t pod = 0;
};

/// For `note`.
constexpr unsigned long long digits(core::version v) {
  return core::number(v);
}

/// What all parts of one simulated world share.
struct stage {
  stage(const mix& m, rng& r, trace* t) : drawn(m), dice(r), judge(m), tracer(t) {}

  const mix& drawn;
  rng& dice;
  agenda events;
  message_pool letters;
  referee judge;
  trace* tracer;  ///< null in a bulk run
  world_time now{};
  bool quiet = false;       ///< nothing goes wrong any more
  bool moved_back = false;  ///< a backup was restored: versions may have moved back
  std::vector<identity> identities;

  void after(core::duration delay, entry e) {
    e.at = now + delay;
    events.add(e);
  }

  /// One line of the trace. Costs a comparison in a bulk run.
  [[gnu::format(printf, 2, 3)]] void note(const char* format, ...) const {
    if (tracer == nullptr) return;
    std::array<char, 256> text{};
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    tracer->add(now, text.data());
  }
};

}  // namespace tenure::sim
