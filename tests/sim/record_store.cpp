#include <algorithm>
#include <array>

#include "store.hpp"

namespace tenure::sim {
namespace {

/// Compare-and-set records without expiry. Candidates judge by their own clocks; every write is
/// shown to all watchers.
class record_store final : public store {
 public:
  record_store(stage& s, network& n) : store(s, n) {}

  void expire() override {}

  bool delete_key(std::size_t election) override {
    record& r = records_[election];
    if (!r.held) return false;
    stage_.judge.removed_by_operator(stage_.now, election, stage_.identities[r.identity].pod,
                                     r.version);
    r.held = false;
    r.clean = false;
    written(election);
    return true;
  }

  bool revoke_session(std::size_t election) override { return delete_key(election); }

  void restarted(bool /*extends*/) override {}

  void restore() override {
    for (std::size_t e = 0; e < stage_.drawn.elections; ++e) delete_key(e);
    stage_.moved_back = true;
    stage_.judge.versions_moved_back();
    revision_ -= std::min<std::uint64_t>(revision_ - 1, stage_.dice.below(20));
  }

  void bump() override { revision_ += 1'000'000; }

  [[nodiscard]] bool holds(std::size_t election, core::version version) const override {
    return records_[election].held && records_[election].version == version;
  }

 private:
  struct record {
    bool held = false;
    bool clean = true;  ///< of a free one: its last holder has released it
    std::uint16_t identity = 0;
    core::version version = core::no_version;
    core::duration ttl{};
    std::uint64_t mark = 0;
  };

  void read(const message& m) override { answer(m, mail::record); }

  void acquire(const message& m) override {
    record& r = records_[m.election];
    if (r.held && r.identity == m.identity) {
      r.ttl = m.ttl;
      written(m.election);
      promise(m.election);
      grant(m, false);
      return;
    }
    if (r.mark != m.mark) {
      answer(m, mail::refused);
      return;
    }
    const bool clean = !r.held && r.clean;
    revision_ = std::max(revision_, core::number(m.above)) + 1;
    r = {.held = true, .identity = m.identity, .version = core::version{revision_}, .ttl = m.ttl};
    stage_.note("store: election %u granted to %s as %llu%s", m.election,
                stage_.identities[m.identity].name.c_str(),
                static_cast<unsigned long long>(revision_), clean ? " (clean)" : "");
    written(m.election);
    stage_.judge.granted(stage_.now, m.election, m.pod, r.version);
    promise(m.election);
    grant(m, clean);
  }

  void grant(const message& m, bool clean) {
    message reply = m;
    reply.kind = mail::granted;
    reply.version = records_[m.election].version;
    reply.clean = clean;
    network_.to_agent(reply);
  }

  void renew(const message& m) override {
    message reply = m;
    reply.kind = mail::renewed;
    for (std::size_t i = 0; i < m.count; ++i) {
      renewal_entry& item = reply.items[i];
      const record& r = records_[item.election];
      if (r.held && r.identity == m.identity && r.version == item.version) {
        written(item.election);
        promise(item.election);
      } else {
        item.lost = true;
        item.why = r.held ? core::loss_reason::taken_over : core::loss_reason::revoked;
      }
    }
    network_.to_agent(reply);
  }

  void tell_own(const message& m) override {
    const record& r = records_[m.election];
    message reply = m;
    reply.kind = mail::own;
    if (r.held && r.identity == m.identity) reply.version = r.version;
    network_.to_agent(reply);
  }

  void release(const message& m) override {
    record& r = records_[m.election];
    if (r.held && r.identity == m.identity && m.version == r.version) {
      stage_.note("store: election %u released by %s", m.election,
                  stage_.identities[m.identity].name.c_str());
      stage_.judge.released(stage_.now, m.election, m.pod, m.version);
      r.held = false;
      r.clean = m.clean;
      ++revision_;
      written(m.election);
    }
    answer(m, mail::released);
  }

  void answer(const message& m, mail kind) {
    message reply = m;
    reply.kind = kind;
    fill(reply, m.election);
    network_.to_agent(reply);
  }

  /// Every write has a mark of its own, and is shown.
  void written(std::size_t election) {
    records_[election].mark = ++marks_;
    for (std::size_t pod = 0; pod < stage_.drawn.pods; ++pod) show(election, pod);
  }

  /// A candidate can see the write now at the earliest, and waits for the TTL by its own clock,
  /// which may be the fastest there is.
  void promise(std::size_t election) {
    const record& r = records_[election];
    const machine_clock fastest(
        {}, *std::max_element(stage_.drawn.clock_ppm.begin(), stage_.drawn.clock_ppm.end()));
    stage_.judge.promised(election, stage_.identities[r.identity].pod, r.version,
                          stage_.now + fastest.takes(r.ttl));
  }

  void fill(message& out, std::size_t election) const override {
    const record& r = records_[election];
    out.as_of = core::version{revision_};
    out.count = r.held ? 1 : 0;
    out.holders[0] = {.identity = r.identity, .version = r.version};
    out.mark = r.mark;
    out.ttl = r.ttl;
    out.clean = r.clean;
  }

  std::uint64_t revision_ = 1;  ///< grows with grants and releases; `restore` moves it back
  std::uint64_t marks_ = 0;
  std::array<record, max_elections> records_{};
};

}  // namespace

std::unique_ptr<store> make_record_store(stage& s, network& n) {
  return std::make_unique<record_store>(s, n);
}

}  // namespace tenure::sim
