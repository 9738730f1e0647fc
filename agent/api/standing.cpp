#include "api/standing.hpp"

#include <algorithm>

namespace tenure::api {
namespace {

using core::phase;

std::int64_t whole_ms(core::duration d) {
  return std::max<std::int64_t>(0, std::chrono::floor<std::chrono::milliseconds>(d).count());
}

bool is_other(const core::holder& h, const core::election_view& view, const std::string& identity) {
  return h.identity != identity && (!view.lease || h.term != view.lease->term);
}

/// What the watch has shown, without ourselves: it may be behind, and after stop_at no answer
/// names us.
std::vector<core::holder> others(const core::election_view& view, const std::string& identity) {
  std::vector<core::holder> out;
  if (!view.seen) return out;
  std::ranges::copy_if(view.seen->holders, std::back_inserter(out),
                       [&](const core::holder& h) { return is_other(h, view, identity); });
  return out;
}

}  // namespace

bool held_by_us(const core::election_view& view, core::time_point now) {
  if (!view.lease || now >= view.lease->stop_at) return false;
  switch (view.phase) {
    case phase::pending:
    case phase::active:
      return true;
    case phase::draining:
      return !core::is_loss(view.last_loss) && !seen_gone(view);
    case phase::observer:
    case phase::candidate:
    case phase::stopped:
      break;
  }
  return false;
}

bool seen_gone(const core::election_view& view) {
  if (!view.seen || !view.lease || view.seen->as_of < view.lease->term) return false;
  return std::ranges::find(view.seen->holders, view.lease->term, &core::holder::term) ==
         view.seen->holders.end();
}

std::optional<std::int64_t> expires_in_ms(const election_snapshot& election,
                                          const std::string& identity, const instant& at) {
  const core::election_view& view = election.view;
  if (held_by_us(view, at.now)) return whole_ms(view.lease->stop_at - at.now);
  if (!view.seen || view.seen->expires_at == core::never) return std::nullopt;
  // The store's word is about its oldest grant, which is the shown one's if there is no other.
  const std::vector<core::holder>& holders = view.seen->holders;
  if (holders.size() != 1 || !is_other(holders.front(), view, identity)) return std::nullopt;
  return whole_ms(view.seen->expires_at - at.now);
}

standing standing_of(const election_snapshot& election, const std::string& identity,
                     const instant& at) {
  const core::election_view& view = election.view;
  standing out;
  out.phase = view.phase;
  out.is_self = view.valid_at(at.now);
  out.expires_in_ms = expires_in_ms(election, identity, at);
  if (view.since != core::never) out.since_unix_ms = election.since_unix_ms;

  const bool may_run = view.phase == phase::pending || view.phase == phase::active;
  if (may_run && view.lease && at.now >= view.lease->stop_at) {
    out.phase = phase::draining;
    out.since_unix_ms = at.unix_ms - whole_ms(at.now - view.lease->stop_at);
  }

  if (held_by_us(view, at.now)) {
    out.holder = core::holder{.identity = identity, .term = view.lease->term};
    out.sequencer = view.sequencer;
    // With one slot, whoever else the watch shows is the holder before us.
    if (election.slots > 1) out.holders = others(view, identity);
    out.holders.push_back(*out.holder);
    std::ranges::sort(out.holders, {}, &core::holder::term);
    return out;
  }
  out.holders = others(view, identity);
  if (out.holders.empty()) return out;
  out.holder = out.holders.front();
  return out;
}

}  // namespace tenure::api
