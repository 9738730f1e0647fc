#include "stores/consul/agreements.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "stores/consul/layout.hpp"
#include "stores/records/agreement_text.hpp"

namespace tenure::stores::consul {
namespace {

/// How often one call reads and tries again because members came or went in between.
constexpr int most_looks = 6;

}  // namespace

void agreements::accept_versions(core::election_index which, core::time_point deadline,
                                 handler<agree_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
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
  if (!now.trouble().empty()) {
    return finish(a, not_agreed{.why = "nothing can be agreed on", .action = now.trouble()});
  }
  core::agreement next = now.agreed();
  if (next.slots == 0) next.slots = shared_.spec(a->which).slots;
  next.versions_from = core::version{now.index() + 1};
  // Later than every acceptance seen so far, even if the wall clock is behind: this tells the new
  // acceptance from an earlier one that a restore may have removed.
  const std::int64_t last = shared_.seen(a->which).last_accepted_unix_ms();
  next.accepted_unix_ms = std::max({shared_.with.wall_ms(), next.accepted_unix_ms + 1, last + 1});
  shared_.transact({write{.key = agreement_key(shared_.spec(a->which).name),
                          .value = agreement_text(next),
                          .index = now.agreement_index()}},
                   a->deadline, [this, a, next](std::expected<transaction_reply, unknown> reply) {
                     if (!reply) return finish(a, std::move(reply.error()));
                     if (reply->failed.empty()) return finish(a, next);
                     const failed_operation& why = reply->failed.front();
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
