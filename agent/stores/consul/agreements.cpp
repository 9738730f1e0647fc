#include "stores/consul/agreements.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "stores/consul/layout.hpp"
#include "stores/consul/requests.hpp"
#include "stores/records/agreement_text.hpp"

namespace tenure::stores::consul {
namespace {

/// How often one call reads and tries again because members came or went in between.
constexpr int most_looks = 6;

/// A holder of another program watches the key that it has locked: it would lose a term that moves.
bool moves_a_stranger(const mirror& now, std::uint32_t slots) {
  const bool moves = (now.basis_now().shape == lock_shape::single) != (slots == 1);
  return moves && std::ranges::any_of(now.holders(),
                                      [](const slot_holder& one) { return one.mark.empty(); });
}

}  // namespace

void agreements::agree(core::election_index which, agreement_change what, core::time_point deadline,
                       handler<agree_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->what = what;
  a->deadline = deadline;
  a->done = std::move(done);
  look(a);
}

void agreements::look(const attempt_ptr& a) {
  if (++a->tries > most_looks) {
    return finish(a, unknown{"members came or went again and again in election \"" +
                             shared_.spec(a->which).name + "\" at " + shared_.agents.present()});
  }
  shared_.read(a->which, a->deadline, [this, a](std::expected<looked, unknown> now) {
    if (!now) return finish(a, std::move(now.error()));
    change(a, now->at);
  });
}

void agreements::change(const attempt_ptr& a, const mirror& now) {
  const std::string& election = shared_.spec(a->which).name;
  if (!now.trouble().empty()) {
    return finish(a, not_agreed{.why = "nothing can be agreed on", .action = now.trouble()});
  }
  core::agreement next = now.agreed();
  if (next.slots == 0) next.slots = shared_.spec(a->which).slots;
  std::vector<operation> all;
  if (a->what.slots > 0) {
    next.slots = a->what.slots;
    if (now.holders().size() > next.slots) {
      return finish(a, too_many_hold(election, now.holders().size(), next.slots));
    }
    if (moves_a_stranger(now, next.slots)) {
      return finish(a, not_agreed{.why = "another program holds \"" + election + "\"",
                                  .action = "let it end first, and ask again"});
    }
    all = resize_transaction(election, now.basis_now(), now.holders(), next.slots);
  }
  if (a->what.accept_versions) {
    next.versions_from = core::version{now.index() + 1};
    // Later than every acceptance seen so far, even if the wall clock is behind: this tells the new
    // acceptance from an earlier one that a restore may have removed.
    const std::int64_t last = shared_.seen(a->which).last_accepted_unix_ms();
    next.accepted_unix_ms = std::max({shared_.with.wall_ms(), next.accepted_unix_ms + 1, last + 1});
    all.emplace_back(write{.key = agreement_key(election),
                           .value = agreement_text(next),
                           .index = now.agreement_index()});
  }
  if (all.empty()) return finish(a, next);
  shared_.transact(all, a->deadline,
                   [this, a, next](std::expected<transaction_reply, unknown> reply) {
                     if (!reply) return finish(a, std::move(reply.error()));
                     if (reply->failed.empty()) return finish(a, next);
                     const failed_operation& why = reply->failed.front();
                     if (why.why == failure::delayed) {
                       return finish(a, not_agreed{.why = "a lock-delay lasts: " + why.what,
                                                   .action = "try again when it is over"});
                     }
                     if (why.why == failure::other) {
                       return finish(a, unknown{shared_.agents.present() + ": " + why.what});
                     }
                     look(a);
                   });
}

void agreements::finish(const attempt_ptr& a, agree_outcome outcome) {
  shared_.answer(std::move(a->done), std::move(outcome));
}

}  // namespace tenure::stores::consul
