#include "network.hpp"

#include <algorithm>

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t half = 500'000;

}  // namespace

core::duration network::delay(mail kind) {
  const mix& m = stage_.drawn;
  if (slow_path_ && m.picks(kind) && stage_.dice.chance(m.picked_late_ppm)) {
    return stage_.dice.spread(m.late_most / 16, m.late_most);
  }
  if (storm_ && stage_.dice.chance(m.late_ppm)) return stage_.dice.spread(1ms, m.late_most);
  return stage_.dice.between(m.delay_least, m.delay_most);
}

bool network::loses(mail kind) {
  const mix& m = stage_.drawn;
  return (storm_ && stage_.dice.chance(m.loss_ppm)) ||
         (slow_path_ && m.picks(kind) && stage_.dice.chance(m.picked_lost_ppm));
}

void network::to_store(const message& m) {
  const bool lost = !store_up_ || links_[m.pod].requests_cut || loses(m.kind);
  if (lost) {
    request_failed(m);
    return;
  }
  const bool twice =
      storm_ && m.kind != mail::open_watch && stage_.dice.chance(stage_.drawn.twice_ppm);
  for (int copies = twice ? 2 : 1; copies > 0; --copies) {
    message sent = m;
    sent.store_life = store_life_;
    stage_.after(delay(m.kind),
                 {.what = happening::store_receives, .arg = stage_.letters.add(sent)});
  }
}

/// A refused connection or a reset is noticed; a request that vanishes runs into its deadline.
/// A watch that never opens is always noticed.
void network::request_failed(const message& m) {
  if (m.kind != mail::open_watch && stage_.dice.chance(half)) return;
  message failure = m;
  failure.kind = mail::failed;
  failure.was = m.kind;
  const core::duration noticed = m.kind == mail::open_watch
                                     ? stage_.dice.spread(1ms, stage_.drawn.break_noticed_most)
                                     : stage_.dice.between(stage_.drawn.delay_least, 20ms);
  stage_.after(noticed, {.what = happening::agent_receives,
                         .pod = m.pod,
                         .stamp = m.process,
                         .arg = stage_.letters.add(failure)});
}

void network::to_agent(const message& m) {
  const bool lost = links_[m.pod].answers_cut || loses(m.kind);
  if (lost) {
    request_failed([&] {
      message request = m;
      switch (m.kind) {
        case mail::renewed:
          request.kind = mail::renew;
          break;
        case mail::own:
        case mail::released:
          request.kind = mail::release;
          break;
        default:
          request.kind = mail::acquire;
          break;
      }
      return request;
    }());
    return;
  }
  for (int copies = storm_ && stage_.dice.chance(stage_.drawn.twice_ppm) ? 2 : 1; copies > 0;
       --copies) {
    stage_.after(delay(m.kind), {.what = happening::agent_receives,
                                 .pod = m.pod,
                                 .stamp = m.process,
                                 .arg = stage_.letters.add(m)});
  }
}

// --- streams -----------------------------------------------------------------------------------

void network::stream_opened(const message& m) {
  stream_state& s = streams_[m.pod][m.election];
  // An older request that was overtaken opens nothing that anybody listens to.
  if (m.stream <= s.id && s.id != 0) return;
  s = {.open = true, .id = m.stream, .process = m.process, .last = stage_.now};
}

void network::stream(const message& m) {
  stream_state& s = streams_[m.pod][m.election];
  if (!s.open) return;
  const bool lost = links_[m.pod].answers_cut || loses(m.kind);
  if (lost) {
    break_stream(m.pod, m.election);
    return;
  }
  message element = m;
  element.stream = s.id;
  element.process = s.process;
  s.last = std::max(s.last, stage_.now + delay(m.kind));
  stage_.events.add({.at = s.last,
                     .what = happening::agent_receives,
                     .pod = m.pod,
                     .stamp = s.process,
                     .arg = stage_.letters.add(element)});
}

void network::break_stream(std::size_t pod, std::size_t election) {
  stream_state& s = streams_[pod][election];
  if (!s.open) return;
  s.open = false;
  stage_.after(stage_.dice.spread(1ms, stage_.drawn.break_noticed_most),
               {.what = happening::stream_breaks,
                .pod = static_cast<std::uint8_t>(pod),
                .election = static_cast<std::uint8_t>(election),
                .stamp = s.process,
                .arg = s.id});
}

void network::stream_checked(const entry& e) {
  const stream_state& s = streams_[e.pod][e.election];
  const link& l = links_[e.pod];
  if (s.open && s.id == e.arg && (l.requests_cut || l.answers_cut)) break_stream(e.pod, e.election);
}

// --- faults ------------------------------------------------------------------------------------

void network::cut(std::size_t pod, bool requests, bool answers) {
  links_[pod].requests_cut |= requests;
  links_[pod].answers_cut |= answers;
  for (std::size_t e = 0; e < stage_.drawn.elections; ++e) {
    const stream_state& s = streams_[pod][e];
    if (!s.open) continue;
    stage_.after(stage_.dice.spread(1ms, stage_.drawn.break_noticed_most),
                 {.what = happening::stream_checked,
                  .pod = static_cast<std::uint8_t>(pod),
                  .election = static_cast<std::uint8_t>(e),
                  .arg = s.id});
  }
}

void network::store_up(bool up) {
  store_up_ = up;
  if (!up) break_all_streams();
}

void network::break_all_streams() {
  for (std::size_t pod = 0; pod < stage_.drawn.pods; ++pod) {
    for (std::size_t e = 0; e < stage_.drawn.elections; ++e) break_stream(pod, e);
  }
}

void network::store_replaced() {
  ++store_life_;
  break_all_streams();
}

void network::agent_gone(std::size_t pod) {
  for (stream_state& s : streams_[pod]) s.open = false;
}

void network::calm() {
  storm_ = false;
  slow_path_ = false;
  store_up_ = true;
  links_ = {};
}

}  // namespace tenure::sim
