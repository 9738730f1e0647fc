#include "faults.hpp"

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

/// In TTLs. Two messages of one exchange may have to be hit; a short trouble seldom does.
constexpr std::int64_t slow_path_lasts = 8;
constexpr std::int64_t longest_series = 6;

/// Limit for one run. A fault makes agents do what draws further faults, which could go on for
/// ever in ever shorter time.
constexpr std::size_t most_troubles = 300;

/// Share of ambushes in which the agent dies, where it may.
constexpr std::uint32_t crash_instead_ppm = 250'000;

}  // namespace

faults::faults(stage& s, network& n, store& kept, std::span<pod> pods)
    : stage_(s), network_(n), kept_(kept), pods_(pods) {
  for (std::size_t f = 0; f < fault_kinds; ++f) {
    const auto kind = static_cast<fault>(f);
    if (!s.drawn.knows(kind)) continue;
    // What bends time finds the most; then what comes as a surprise.
    const bool bends_time =
        kind == fault::storm || kind == fault::slow_path || kind == fault::agent_pause;
    const bool takes_away = kind == fault::delete_key || kind == fault::revoke_session;
    known_.insert(known_.end(), bends_time ? 3 : takes_away ? 2 : 1, kind);
  }
  if (known_.empty()) return;
  for (std::uint32_t i = 0; i < s.drawn.planned_faults; ++i) {
    plan(draw(), s.dice.between(core::duration{}, s.drawn.faulty));
  }
}

faults::trouble faults::draw() {
  rng& dice = stage_.dice;
  const core::duration ttl = stage_.drawn.when.ttl;
  trouble t{.what = known_[dice.below(known_.size())],
            .pod = static_cast<std::uint8_t>(dice.below(stage_.drawn.pods)),
            .election = static_cast<std::uint8_t>(dice.below(stage_.drawn.elections)),
            .lasts = dice.spread(1ms, 3 * ttl)};
  if (t.what == fault::slow_path) t.lasts = dice.between(ttl / 2, slow_path_lasts * ttl);
  return t;
}

void faults::plan(const trouble& t, core::duration delay) {
  if (troubles_.size() >= most_troubles) return;
  troubles_.push_back(t);
  stage_.after(delay, {.what = happening::fault_begins,
                       .arg = static_cast<std::uint32_t>(troubles_.size() - 1)});
}

void faults::ambush(std::size_t number) {
  if (stage_.quiet || known_.empty() || !stage_.dice.chance(stage_.drawn.ambush_ppm)) return;
  trouble t = draw();
  t.pod = static_cast<std::uint8_t>(number);
  if (stage_.drawn.knows(fault::agent_crash) && stage_.dice.chance(crash_instead_ppm)) {
    // What a process has sent outlives it, if it dies at once.
    t.what = fault::agent_crash;
    plan(t, stage_.dice.spread(100us, 20ms));
    return;
  }
  plan(t, stage_.dice.spread(100us, stage_.drawn.when.ttl / 4));
}

/// The same again, with hardly time to recover: links and health that flap, people who insist.
void faults::repeat(trouble t) {
  core::duration gap{};
  t.repeated = true;
  for (std::int64_t more = stage_.dice.between(1, longest_series); more > 0; --more) {
    gap += t.lasts + stage_.dice.spread(1ms, stage_.drawn.when.ttl / 2);
    t.lasts = stage_.dice.spread(1ms, stage_.drawn.when.ttl);
    plan(t, gap);
  }
}

void faults::begin(const entry& e) {
  if (stage_.quiet) return;
  const trouble t = troubles_[e.arg];
  stage_.note("fault: %s, pod %u/%u, for %.3f s", name(t.what), t.pod, t.election,
              std::chrono::duration<double>(t.lasts).count());
  strike(t);
  if (!t.repeated && stage_.dice.chance(stage_.drawn.series_ppm)) repeat(t);
  stage_.after(t.lasts, {.what = happening::fault_ends, .arg = e.arg});
}

void faults::strike(const trouble& t) {
  pod& victim = pods_[t.pod];
  switch (t.what) {
    case fault::cut_requests:
      network_.cut(t.pod, true, false);
      break;
    case fault::cut_answers:
      network_.cut(t.pod, false, true);
      break;
    case fault::cut_both:
      network_.cut(t.pod, true, true);
      break;
    case fault::cut_all_pods:
      for (std::size_t p = 0; p < pods_.size(); ++p) network_.cut(p, true, true);
      break;
    case fault::storm:
      network_.storm(true);
      break;
    case fault::slow_path:
      network_.slow_path(true);
      break;
    case fault::store_crash:
      network_.store_up(false);
      break;
    case fault::fail_over:
      network_.store_up(false);
      network_.store_up(true);
      kept_.restarted(true);
      break;
    case fault::agent_crash:
      victim.crash();
      if (stage_.drawn.takes_after_crash) {
        plan({.what = fault::delete_key, .pod = t.pod, .election = t.election, .repeated = true},
             stage_.dice.between(core::duration{}, stage_.drawn.when.try_timeout()));
      }
      break;
    case fault::agent_pause:
      victim.pause();
      break;
    case fault::pod_pause:
      victim.freeze();
      break;
    case fault::pod_replace:
      victim.replace(t.lasts);
      break;
    default:
      operators(t);
      break;
  }
}

/// What people and health checks do.
void faults::operators(const trouble& t) {
  pod& victim = pods_[t.pod];
  switch (t.what) {
    case fault::delete_key:
      kept_.delete_key(t.election);
      break;
    case fault::revoke_session:
      kept_.revoke_session(t.election);
      break;
    case fault::restore:
      // An operator stops the store before a restore.
      network_.store_replaced();
      kept_.restore();
      break;
    case fault::resign: {
      const bool for_good = stage_.dice.chance(200'000);
      victim.tell(t.election, core::event::resign{for_good ? core::duration::max() : t.lasts},
                  core::loss_reason::resigned);
      if (stage_.drawn.crashes_after_order) {
        plan({.what = fault::agent_crash, .pod = t.pod, .election = t.election, .repeated = true},
             stage_.dice.spread(1ms, stage_.drawn.when.ttl / 4));
      }
      break;
    }
    case fault::shutdown:
      victim.shut_down();
      break;
    case fault::unhealthy:
      if (stage_.dice.chance(700'000)) {
        victim.tell(t.election, core::event::workload_unhealthy{}, core::loss_reason::unhealthy);
      } else {
        victim.tell(t.election, core::event::guard_away{}, core::loss_reason::guard_gone);
      }
      break;
    case fault::workload_exit:
      victim.workload_exits(t.election);
      break;
    default:
      break;
  }
}

void faults::end(const entry& e) {
  if (stage_.quiet) return;
  const trouble& t = troubles_[e.arg];
  pod& victim = pods_[t.pod];
  switch (t.what) {
    case fault::cut_requests:
    case fault::cut_answers:
    case fault::cut_both:
      network_.heal(t.pod);
      break;
    case fault::cut_all_pods:
      for (std::size_t p = 0; p < pods_.size(); ++p) network_.heal(p);
      break;
    case fault::storm:
      network_.storm(false);
      break;
    case fault::slow_path:
      network_.slow_path(false);
      break;
    case fault::store_crash:
      network_.store_up(true);
      kept_.restarted(stage_.drawn.restart_extends);
      break;
    case fault::agent_pause:
      victim.go_on();
      break;
    case fault::pod_pause:
      victim.thaw();
      break;
    case fault::unhealthy:
      victim.tell(t.election, core::event::workload_healthy{}, core::loss_reason::none);
      victim.tell(t.election, core::event::guard_back{}, core::loss_reason::none);
      break;
    default:
      break;
  }
}

void faults::stop() {
  stage_.note("quiet begins");
  stage_.quiet = true;
  network_.calm();
  kept_.restarted(stage_.drawn.restart_extends);
  if (stage_.moved_back) kept_.bump();
  for (pod& p : pods_) {
    p.thaw();
    p.go_on();
    for (std::size_t e = 0; e < stage_.drawn.elections; ++e) {
      p.tell(e, core::event::workload_healthy{}, core::loss_reason::none);
      p.tell(e, core::event::guard_back{}, core::loss_reason::none);
      p.tell(e, core::event::resume{}, core::loss_reason::none);
    }
  }
}

}  // namespace tenure::sim
