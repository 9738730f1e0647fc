#include <algorithm>
#include <array>
#include <vector>

#include "store.hpp"

namespace tenure::sim {
namespace {

/// A server that ends leases by its own clock. One session holds all elections of an agent.
class expiring_store final : public store {
 public:
  expiring_store(stage& s, network& n) : store(s, n), clock_({}, s.drawn.store_clock_ppm) {}

  void expire() override {
    for (std::uint16_t id = 0; id < sessions_.size(); ++id) {
      if (sessions_[id].alive && stage_.now >= sessions_[id].ends_at) {
        stage_.note("store: session %s expires", stage_.identities[id].name.c_str());
        end_session(id, false);
      }
    }
    schedule_expiry();
  }

  bool delete_key(std::size_t election) override {
    election_state& it = elections_[election];
    if (it.count == 0) return false;
    const auto victim = static_cast<std::size_t>(stage_.dice.below(it.count));
    remove(election, victim, true);
    return true;
  }

  bool revoke_session(std::size_t election) override {
    if (elections_[election].count == 0) return false;
    end_session(elections_[election].holders[0].identity, true);
    return true;
  }

  void restarted(bool extends) override {
    if (extends) {
      for (std::uint16_t id = 0; id < sessions_.size(); ++id) {
        if (sessions_[id].alive) extend(id);
      }
    }
    expire();
  }

  void restore() override {
    for (std::uint16_t id = 0; id < sessions_.size(); ++id) {
      if (sessions_[id].alive) end_session(id, true);
    }
    stage_.moved_back = true;
    stage_.judge.versions_moved_back();
    revision_ -= std::min<std::uint64_t>(revision_ - 1, stage_.dice.below(20));
  }

  void bump() override { revision_ += 1'000'000; }

  [[nodiscard]] bool holds(std::size_t election, core::version version) const override {
    const election_state& it = elections_[election];
    return std::any_of(it.holders.begin(), it.holders.begin() + it.count,
                       [&](const held& h) { return h.version == version; });
  }

 private:
  struct session {
    bool alive = false;
    /// In this life of it; terms of an earlier one are over.
    std::array<core::version, max_elections> granted{};
    /// What it held when it ended last; not what an operator had deleted before.
    std::array<core::version, max_elections> ended_with{};
    world_time ends_at{};  ///< with the lag of the server's sweeper
  };
  struct election_state {
    std::array<held, max_slots> holders{};  ///< lowest version first
    std::uint8_t count = 0;
    std::uint8_t doubtful = 0;  ///< free slots whose last holder has not released
    world_time locked_until{};  ///< the store's own lock-delay
  };

  void extend(std::uint16_t id) {
    session& s = sessions_[id];
    s.alive = true;
    const world_time promised = stage_.now + clock_.takes(stage_.drawn.granted_ttl());
    s.ends_at = std::max(
        s.ends_at, promised + stage_.dice.between(core::duration{}, stage_.drawn.expiry_lag_most));
    for (std::size_t e = 0; e < stage_.drawn.elections; ++e) {
      for (std::size_t i = 0; i < elections_[e].count; ++i) {
        const held& h = elections_[e].holders[i];
        if (h.identity == id)
          stage_.judge.promised(e, stage_.identities[id].pod, h.version, promised);
      }
    }
    schedule_expiry();
  }

  void read(const message& /*m*/) override {}  // nobody judges records here

  void acquire(const message& m) override {
    if (sessions_.size() <= m.identity) sessions_.resize(m.identity + 1U);
    election_state& it = elections_[m.election];
    expire();
    message answer = m;
    answer.ttl = stage_.drawn.granted_ttl();
    auto* const end = it.holders.data() + it.count;
    auto* mine = std::find_if(it.holders.data(), end,
                              [&](const held& h) { return h.identity == m.identity; });
    answer.clean = false;
    if (mine == end && it.count < stage_.drawn.slots[m.election] && stage_.now >= it.locked_until) {
      answer.clean = it.doubtful == 0;
      if (it.doubtful > 0) --it.doubtful;
      *mine = {.identity = m.identity, .version = core::version{++revision_}};
      ++it.count;
      sessions_[m.identity].granted[m.election] = mine->version;
      stage_.note("store: election %u granted to %s as %llu%s", m.election,
                  stage_.identities[m.identity].name.c_str(),
                  static_cast<unsigned long long>(revision_), answer.clean ? " (clean)" : "");
      stage_.judge.granted(stage_.now, m.election, m.pod, mine->version);
      show_all(m.election);
    } else if (mine == end) {
      answer.kind = mail::refused;
      fill(answer, m.election);
      extend(m.identity);
      network_.to_agent(answer);
      return;
    }
    answer.kind = mail::granted;
    answer.version = mine->version;
    extend(m.identity);
    network_.to_agent(answer);
  }

  void renew(const message& m) override {
    expire();
    message answer = m;
    answer.kind = mail::renewed;
    answer.ttl = stage_.drawn.granted_ttl();
    const bool alive = m.identity < sessions_.size() && sessions_[m.identity].alive;
    for (std::size_t i = 0; i < m.count; ++i) {
      renewal_entry& item = answer.items[i];
      if (!alive || item.version != sessions_[m.identity].granted[item.election]) {
        item.lost = true;
        item.why = core::loss_reason::session_invalid;
        item.delayed = m.identity < sessions_.size() &&
                       sessions_[m.identity].ended_with[item.election] == item.version;
      } else if (stage_.drawn.renewal_checks_terms &&
                 !holds(item.election, item.version, m.identity)) {
        item.lost = true;
        item.why = core::loss_reason::revoked;
      }
    }
    if (alive) extend(m.identity);
    network_.to_agent(answer);
  }

  [[nodiscard]] bool holds(std::size_t election, core::version version, std::uint16_t id) const {
    const election_state& it = elections_[election];
    return std::any_of(it.holders.begin(), it.holders.begin() + it.count,
                       [&](const held& h) { return h.version == version && h.identity == id; });
  }

  void tell_own(const message& m) override {
    const election_state& it = elections_[m.election];
    message answer = m;
    answer.kind = mail::own;
    for (std::size_t i = 0; i < it.count; ++i) {
      if (it.holders[i].identity == m.identity) answer.version = it.holders[i].version;
    }
    network_.to_agent(answer);
  }

  void release(const message& m) override {
    election_state& it = elections_[m.election];
    for (std::size_t i = 0; i < it.count; ++i) {
      const held& h = it.holders[i];
      if (h.identity != m.identity || h.version != m.version) continue;
      stage_.note("store: election %u released by %s", m.election,
                  stage_.identities[m.identity].name.c_str());
      take_out(it, i);
      stage_.judge.released(stage_.now, m.election, m.pod, m.version);
      if (!m.clean) ++it.doubtful;
      ++revision_;
      show_all(m.election);
      break;
    }
    message answer = m;
    answer.kind = mail::released;
    network_.to_agent(answer);
  }

  static void take_out(election_state& it, std::size_t i) {
    for (; i + 1 < it.count; ++i) it.holders[i] = it.holders[i + 1];
    --it.count;
  }

  void remove(std::size_t election, std::size_t i, bool by_operator) {
    election_state& it = elections_[election];
    const held gone = it.holders[i];
    take_out(it, i);
    ++revision_;
    ++it.doubtful;
    it.locked_until = stage_.now + clock_.takes(stage_.drawn.store_lock_delay);
    if (by_operator) {
      stage_.judge.removed_by_operator(stage_.now, election, stage_.identities[gone.identity].pod,
                                       gone.version);
    }
    show_all(election);
  }

  void end_session(std::uint16_t id, bool by_operator) {
    session& ended = sessions_[id] = {};
    for (std::size_t e = 0; e < stage_.drawn.elections; ++e) {
      for (std::size_t i = elections_[e].count; i-- > 0;) {
        const held& h = elections_[e].holders[i];
        if (h.identity != id) continue;
        ended.ended_with[e] = h.version;
        remove(e, i, by_operator);
      }
    }
  }

  void schedule_expiry() {
    world_time first = world_never;
    for (const session& s : sessions_) {
      if (s.alive) first = std::min(first, s.ends_at);
    }
    if (first >= next_expiry_ && next_expiry_ > stage_.now) return;
    next_expiry_ = first;
    if (first != world_never) {
      stage_.events.add({.at = first, .what = happening::store_expires});
    }
  }

  void fill(message& out, std::size_t election) const override {
    const election_state& it = elections_[election];
    out.as_of = core::version{revision_};
    out.holders = it.holders;
    out.count = it.count;
    out.retry_in = core::duration::max();
    if (stage_.now < it.locked_until) {
      out.retry_in = it.locked_until - stage_.now;
    } else if (stage_.drawn.says_retry && it.count > 0) {
      world_time first = world_never;
      for (std::size_t i = 0; i < it.count; ++i) {
        first = std::min(first, sessions_[it.holders[i].identity].ends_at);
      }
      out.retry_in = first - stage_.now;
    }
  }

  void show_all(std::size_t election) {
    for (std::size_t pod = 0; pod < stage_.drawn.pods; ++pod) show(election, pod);
  }

  machine_clock clock_;
  /// Grows with every change, and survives everything but `restore`.
  std::uint64_t revision_ = 1;
  world_time next_expiry_ = world_never;
  std::vector<session> sessions_;  ///< by identity
  std::array<election_state, max_elections> elections_{};
};

}  // namespace

std::unique_ptr<store> make_expiring_store(stage& s, network& n) {
  return std::make_unique<expiring_store>(s, n);
}

}  // namespace tenure::sim
