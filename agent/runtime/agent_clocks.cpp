#include "os/clock_reading.hpp"
#include "runtime/agent_loop.hpp"
#include "runtime/lines.hpp"

/// The part of the loop that is about time itself.
namespace tenure::runtime {

/// The instant of a step. A sleep that is noticed only now is stepped before it, in all elections.
core::moment agent_loop::moment() {
  look_at_clocks();
  return present();
}

core::moment agent_loop::present() {
  entropy_ = entropy_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return {.now = loop_.now(), .entropy = entropy_ ^ (entropy_ >> 29)};
}

void agent_loop::look_at_clocks() {
  const clock_news news = clocks_.look(os::read_clocks());
  const std::string& identity = options_.settings.identity;
  const auto say = [&](auto line, const char* what, core::duration how_long) {
    if (how_long == core::duration::zero()) return;
    const auto held_back = failures_.let_through(what, loop_.now());
    if (held_back) line(log_, identity, how_long, *held_back);
  };
  say(say_slept, "slept", news.slept);
  say(say_late, "late", news.late);
  say(say_wall_jumped, "wall clock", news.wall_jumped);
  if (news.late != core::duration::zero()) instruments_.was_late(news.late);
  if (news.wall_jumped != core::duration::zero()) instruments_.wall_clock_jumped();
  if (news.slept == core::duration::zero()) return;
  instruments_.slept(news.slept);
  for (std::uint32_t i = 0; i < session_.size(); ++i) {
    session_.step(present(), core::election_index{i}, core::event::slept{news.slept}, effects_);
  }
}

}  // namespace tenure::runtime
