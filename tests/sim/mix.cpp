#include "mix.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "core/check.hpp"

namespace tenure::sim {
namespace {

using namespace std::chrono_literals;

/// SIGKILL takes effect within this share of kill_budget, on any clock.
constexpr std::int64_t kill_share_percent = 97;

constexpr std::uint32_t most_ambushes_ppm = 1'000'000;

/// Each kind that something may be decided by.
constexpr mail may_suffer[] = {mail::acquire, mail::renew,    mail::release, mail::granted,
                               mail::renewed, mail::released, mail::shown};

core::timing draw_timing(rng& dice) {
  core::timing_request asked;
  asked.ttl = dice.chance(250'000) ? 15s : dice.spread(1s, 60s);
  if (dice.chance(500'000)) asked.drain = dice.between(0s, 20s);
  if (dice.chance(300'000)) {
    // Custom numbers; those that do not add up are refused, and the defaults stay.
    core::timing_request custom = asked;
    if (dice.chance(500'000)) custom.renew = dice.between(asked.ttl / 20, asked.ttl / 2);
    if (dice.chance(500'000)) custom.grace = dice.between(core::duration{}, asked.ttl / 3);
    if (dice.chance(500'000))
      custom.kill_budget = dice.between(core::duration(20ms), asked.ttl / 8);
    if (dice.chance(300'000)) {
      custom.lock_delay = dice.between(core::duration{}, asked.ttl);
    }
    if (const auto valid = core::resolve(custom)) return *valid;
  }
  const auto valid = core::resolve(asked);
  TENURE_CHECK(valid.has_value());
  return *valid;
}

void draw_cast(rng& dice, mix& m) {
  m.family = dice.chance(350'000) ? store_family::record : store_family::expiring;
  m.elections = dice.chance(600'000) ? 1 : static_cast<std::uint32_t>(dice.between(2, 4));
  m.pods = static_cast<std::uint32_t>(dice.between(1, dice.chance(300'000) ? 5 : 3));
  for (std::size_t e = 0; e < max_elections; ++e) {
    const bool several = m.family == store_family::expiring && dice.chance(200'000);
    m.slots[e] = several ? static_cast<std::uint32_t>(dice.between(2, 3)) : 1;
    m.owns_workload[e] = !dice.chance(100'000);
    m.checked_always[e] = dice.chance(300'000);
  }
  if (m.pods > 2) m.observes[m.pods - 1] = dice.chance(150'000);
  m.on_lost = dice.chance(200'000) ? core::after_loss::exit : core::after_loss::standby;
  // Half of the seeds have the worst clocks that the guarantee allows.
  const bool worst = dice.chance(500'000);
  const auto draw_rate = [&] {
    if (worst) return dice.chance(500'000) ? most_ppm_off : -most_ppm_off;
    return dice.between(-most_ppm_off, most_ppm_off);
  };
  for (std::int64_t& ppm : m.clock_ppm) ppm = draw_rate();
  m.store_clock_ppm = draw_rate();
}

void draw_network(rng& dice, mix& m) {
  m.delay_least = dice.spread(50us, 2ms);
  m.delay_most = m.delay_least + dice.spread(50us, 10ms);
  if (dice.chance(700'000)) m.loss_ppm = static_cast<std::uint32_t>(dice.between(1'000, 400'000));
  if (dice.chance(500'000)) m.twice_ppm = static_cast<std::uint32_t>(dice.between(1'000, 200'000));
  if (dice.chance(700'000)) m.late_ppm = static_cast<std::uint32_t>(dice.between(10'000, 500'000));
  m.late_most = dice.spread(m.when.ttl / 16, m.when.ttl * 3);
  // A proxy that buffers, a route that is bad one way: some kinds of messages suffer alone.
  for (std::int64_t picks = dice.between(1, 3); picks > 0; --picks) {
    const mail one = may_suffer[dice.below(std::size(may_suffer))];
    m.picked_mail |= 1U << static_cast<unsigned>(one);
  }
  m.picked_lost_ppm = static_cast<std::uint32_t>(dice.between(0, 700'000));
  m.picked_late_ppm = static_cast<std::uint32_t>(dice.between(200'000, 1'000'000));
  m.break_noticed_most = dice.spread(10ms, 5s);
}

/// A path that is slow all the time, for what an election can do without for a while, and what
/// makes that dangerous.
void draw_slow_path(rng& dice, mix& m) {
  if (!dice.chance(350'000)) return;
  m.always_slow = true;
  const auto know = [&](fault f) { m.known_faults |= 1U << static_cast<unsigned>(f); };
  const auto pick = [&](mail kind) { m.picked_mail |= 1U << static_cast<unsigned>(kind); };
  m.picked_mail = 0;
  if (dice.chance(600'000)) {
    // Leases that are given up by agents that do not live to hear the answer.
    pick(mail::release);
    if (dice.chance(300'000)) pick(mail::released);
    if (dice.chance(600'000)) {
      // And that have never heard that they hold them: all else would only be in the way.
      pick(mail::granted);
      m.known_faults = 0;
      m.elections = 1;
      m.pods = 1;
      m.late_most = m.when.ttl + 3s;
      m.picked_lost_ppm /= 8;
      m.picked_late_ppm = static_cast<std::uint32_t>(dice.between(300'000, 600'000));
      m.ambush_ppm = most_ambushes_ppm / 3;
      m.series_ppm = 0;
      m.planned_faults *= 4;
      m.crashes_after_order = true;
    }
    know(fault::resign);
    if (!m.crashes_after_order) know(fault::agent_crash);
  } else {
    // Renewals that the store gets to when their term is over.
    pick(mail::renew);
    if (dice.chance(300'000)) pick(mail::renewed);
    m.picked_lost_ppm /= 8;
    m.late_most = std::min(m.late_most, m.when.ttl / 3);
    know(fault::delete_key);
    know(fault::revoke_session);
  }
}

void know_only(mix& m, std::initializer_list<fault> these) {
  m.known_faults = 0;
  for (const fault f : these) m.known_faults |= 1U << static_cast<unsigned>(f);
}

void pick_only(mix& m, std::initializer_list<mail> these) {
  m.picked_mail = 0;
  for (const mail kind : these) m.picked_mail |= 1U << static_cast<unsigned>(kind);
}

/// A grant of another term than what runs, before the watch shows that: one that comes late within
/// its try is to be renewed at once, while what runs dies.
void draw_quick_renewals(rng& dice, mix& m) {
  core::timing_request asked{.ttl = m.when.ttl, .drain = m.when.drain};
  asked.renew = dice.between(m.when.ttl / 20, m.when.ttl / 10);
  asked.kill_budget = m.when.ttl / 8;
  const auto valid = core::resolve(asked);
  if (!valid) return;
  m.when = *valid;
  m.late_most = m.when.try_timeout() * 6 / 5;
  m.picked_late_ppm = std::max(m.picked_late_ppm, 700'000U);
  pick_only(m, {mail::acquire, mail::granted, mail::shown});
  know_only(m, {fault::agent_crash});
  m.takes_after_crash = true;
  m.pods = 1;
}

/// Agents that crash again and again, while operators take away what the next one is to find, and
/// its first questions are slow.
void draw_hand_downs(rng& dice, mix& m) {
  if (m.always_slow || !dice.chance(250'000)) return;
  m.always_slow = true;
  m.picked_lost_ppm /= 8;
  m.late_most = std::min(m.late_most, m.when.ttl / 2);
  pick_only(m, {mail::acquire, mail::granted});
  m.pods = static_cast<std::uint32_t>(dice.between(2, 3));
  switch (dice.below(4)) {
    case 0:
      // It may not go on with what it finds.
      know_only(m, {fault::agent_crash, fault::unhealthy});
      break;
    case 1:
      know_only(m,
                {fault::agent_crash, fault::delete_key, fault::revoke_session, fault::pod_pause});
      break;
    default:
      draw_quick_renewals(dice, m);
      break;
  }
  m.elections = 1;
  m.planned_faults *= 2;
  // Each crash in its own time.
  m.series_ppm = m.takes_after_crash ? 0 : std::max(m.series_ppm, 300'000U);
  m.ambush_ppm = m.takes_after_crash ? 0 : most_ambushes_ppm;
}

void draw_store(rng& dice, mix& m) {
  if (dice.chance(150'000)) m.least_ttl = m.when.ttl + dice.between(0s, 2s);
  if (m.family == store_family::expiring && dice.chance(200'000)) {
    m.store_lock_delay = dice.spread(100ms, 15s);
  }
  m.expiry_lag_most = dice.chance(500'000) ? core::duration{} : dice.spread(1ms, 1s);
  m.restart_extends = dice.chance(500'000);
  m.renewal_checks_terms = dice.chance(500'000);
  m.says_retry = dice.chance(300'000);
}

void draw_machines(rng& dice, mix& m) {
  if (dice.chance(600'000)) m.timer_lag_most = dice.spread(100us, 50ms);
  m.socket_delay_most = dice.spread(20us, 2ms);
  if (dice.chance(500'000)) {
    m.ignores_term_ppm = static_cast<std::uint32_t>(dice.between(50'000, 1'000'000));
  }
  if (dice.chance(150'000)) {
    m.start_fails_ppm = static_cast<std::uint32_t>(dice.between(1'000, 200'000));
  }
  m.stops_within = dice.spread(1ms, 5s);
  const core::duration budget = m.when.kill_budget * kill_share_percent / 100;
  m.kill_takes_most = dice.chance(500'000) ? budget : dice.between(budget / 20, budget);
}

/// Who comes next. By a copy of the dice: all else of a seed is as it would be without.
void draw_succession(rng dice, mix& m) {
  m.lists_members = dice.chance(500'000);
  for (std::int32_t& one : m.priority) {
    one = dice.chance(400'000) ? static_cast<std::int32_t>(dice.between(-1, 2)) : 0;
  }
  m.prefer_newer = dice.chance(300'000);
  m.preempt = dice.chance(300'000);
  // One more hand-over, once the hold-down of a member is over that has recovered last.
  if (m.preempt) m.quiet += 5 * m.granted_ttl();
}

}  // namespace

mix draw_mix(rng& dice) {
  mix m;
  m.when = draw_timing(dice);
  draw_cast(dice, m);
  draw_network(dice, m);
  draw_store(dice, m);

  for (std::size_t f = 0; f < fault_kinds; ++f) {
    // A restored backup breaks the promise of growing versions: seldom, so that the promise is
    // watched in most seeds.
    const bool rare = f == static_cast<std::size_t>(fault::restore);
    if (dice.chance(rare ? 150'000 : 450'000)) m.known_faults |= 1U << f;
  }
  m.planned_faults = static_cast<std::uint32_t>(dice.between(8, 24));
  if (dice.chance(800'000)) {
    m.ambush_ppm = static_cast<std::uint32_t>(dice.between(100'000, most_ambushes_ppm));
  }
  if (dice.chance(500'000)) {
    m.series_ppm = static_cast<std::uint32_t>(dice.between(50'000, 500'000));
  }
  draw_slow_path(dice, m);
  draw_hand_downs(dice, m);
  draw_machines(dice, m);
  m.faulty = m.when.ttl * dice.between(40, 90);
  // Long enough for what is under way to arrive, a drain, an expiry, the store's own delay, and
  // the longest pauses between tries of everything that has to be tried again.
  const core::duration ttl = m.granted_ttl();
  m.quiet = m.late_most + 2 * (m.when.drain + m.when.grace) + 5 * ttl + 2 * m.store_lock_delay +
            2 * m.break_noticed_most + m.expiry_lag_most + m.when.lock_delay + 30s;
  draw_succession(dice, m);
  return m;
}

const char* name(mail k) {
  switch (k) {
    case mail::acquire:
      return "acquire";
    case mail::renew:
      return "renew";
    case mail::release:
      return "release";
    case mail::granted:
      return "granted";
    case mail::renewed:
      return "renewed";
    case mail::released:
      return "released";
    case mail::say:
      return "say";
    case mail::shown:
      return "shown";
    default:
      return "other";
  }
}

const char* name(fault f) {
  switch (f) {
    case fault::cut_requests:
      return "cut_requests";
    case fault::cut_answers:
      return "cut_answers";
    case fault::cut_both:
      return "cut_both";
    case fault::cut_all_pods:
      return "cut_all_pods";
    case fault::storm:
      return "storm";
    case fault::slow_path:
      return "slow_path";
    case fault::store_crash:
      return "store_crash";
    case fault::fail_over:
      return "fail_over";
    case fault::agent_crash:
      return "agent_crash";
    case fault::agent_pause:
      return "agent_pause";
    case fault::pod_pause:
      return "pod_pause";
    case fault::pod_replace:
      return "pod_replace";
    case fault::delete_key:
      return "delete_key";
    case fault::revoke_session:
      return "revoke_session";
    case fault::restore:
      return "restore";
    case fault::resign:
      return "resign";
    case fault::shutdown:
      return "shutdown";
    case fault::unhealthy:
      return "unhealthy";
    case fault::workload_exit:
      return "workload_exit";
    case fault::kinds:
      break;
  }
  return "unknown";
}

std::string describe(const mix& m) {
  std::string out = m.family == store_family::record ? "record store" : "expiring store";
  out +=
      ", " + std::to_string(m.pods) + " pods, " + std::to_string(m.elections) + " elections (slots";
  for (std::size_t e = 0; e < m.elections; ++e) out += " " + std::to_string(m.slots[e]);
  out += ")\nttl " + core::text(m.when.ttl) + " (granted " + core::text(m.granted_ttl()) +
         "), renew " + core::text(m.when.renew) + ", grace " + core::text(m.when.grace) +
         ", kill_budget " + core::text(m.when.kill_budget) + ", lock_delay " +
         core::text(m.when.lock_delay) + ", drain " + core::text(m.when.drain) +
         ", store lock-delay " + core::text(m.store_lock_delay);
  out += "\nstorm: loss " + std::to_string(m.loss_ppm) + " ppm, twice " +
         std::to_string(m.twice_ppm) + " ppm, late " + std::to_string(m.late_ppm) +
         " ppm by up to " + core::text(m.late_most);
  out += "\nslow path: loss " + std::to_string(m.picked_lost_ppm) + " ppm, late " +
         std::to_string(m.picked_late_ppm) + " ppm, of" + (m.always_slow ? " (always):" : ":");
  for (const mail one : may_suffer) {
    if (m.picks(one)) out += std::string(" ") + name(one);
  }
  out += "\ntimer lag " + core::text(m.timer_lag_most) + ", SIGKILL takes up to " +
         core::text(m.kill_takes_most) + ", ambush " + std::to_string(m.ambush_ppm) + " ppm, " +
         std::to_string(m.planned_faults) + " of:";
  for (std::size_t f = 0; f < fault_kinds; ++f) {
    if (m.knows(static_cast<fault>(f))) out += std::string(" ") + name(static_cast<fault>(f));
  }
  if (m.lists_members) {
    out += "\nmembers are listed; priorities";
    for (std::size_t pod = 0; pod < m.pods; ++pod) out += " " + std::to_string(m.priority[pod]);
    if (m.prefer_newer) out += ", newer ones preferred";
    if (m.preempt) out += ", preempting";
  }
  return out + "\n";
}

}  // namespace tenure::sim
