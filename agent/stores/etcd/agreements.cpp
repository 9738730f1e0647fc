#include "stores/etcd/agreements.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tenure::stores::etcd {
namespace {

/// How often one call reads and tries again because contenders came or went in between.
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
    return session_.answer(
        std::move(a->done),
        agree_outcome(unknown{"members came or went again and again in election \"" +
                              session_.spec(a->which).name + "\" at " +
                              session_.endpoints.present()}));
  }
  session_.read(a->which, a->deadline, [this, a](std::expected<looked, unknown> now) {
    if (!now) return session_.answer(std::move(a->done), agree_outcome(std::move(now.error())));
    write(a, now->at);
  });
}

void agreements::write(const attempt_ptr& a, const mirror& now) {
  core::agreement next = now.agreed();
  if (next.slots == 0) next.slots = session_.spec(a->which).slots;
  next.versions_from = core::version{now.revision() + 1};
  // Later than every acceptance seen so far, even if the wall clock is behind: this tells the new
  // acceptance from an earlier one that a restore may have removed.
  const std::int64_t last = session_.seen(a->which).last_accepted_unix_ms();
  next.accepted_unix_ms = std::max({session_.with.wall_ms(), next.accepted_unix_ms + 1, last + 1});
  session_.endpoints.call(transaction_path,
                          transaction_request(agreement_transaction(session_.spec(a->which).name,
                                                                    next, now.basis_now())),
                          a->deadline,
                          session_.guarded([this, a, next](const reply_or_failure& reply) {
                            written(a, next, reply);
                          }));
}

void agreements::written(const attempt_ptr& a, const core::agreement& what,
                         const reply_or_failure& reply) {
  if (!reply) {
    return session_.answer(std::move(a->done), agree_outcome(unknown{reply.error().why}));
  }
  const auto done = parse_transaction(reply->body);
  if (!done) {
    return session_.answer(std::move(a->done), agree_outcome(session_.broken_reply(done.error())));
  }
  if (!done->succeeded) return look(a);
  session_.answer(std::move(a->done), agree_outcome(what));
}

}  // namespace tenure::stores::etcd
