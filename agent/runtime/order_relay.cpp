#include "runtime/order_relay.hpp"

#include <algorithm>

#include "base/number_text.hpp"
#include "core/timing.hpp"

namespace tenure::runtime {
namespace {

/// How long taking back an expired order may take: the client is answered before its own patience
/// ends (http::http_limits::answer).
constexpr core::duration withdrawal_limit = std::chrono::milliseconds(500);

core::order_reply reply_of(const std::optional<api::control_refusal>& objection) {
  if (!objection) return {.accepted = true};
  return {.code = objection->why.code,
          .message = objection->why.message,
          .action = objection->why.action};
}

/// A member's answer, as a result for the client.
api::control_result result_of(const core::order_reply& said, const std::string& member) {
  if (said.accepted) return api::control_acceptance{member};
  return std::unexpected(api::refusal(409, said.code, said.message, said.action));
}

}  // namespace

order_relay::order_relay(base::event_loop& on, std::string identity, judge judged,
                         carrier carry_out, core::duration lasts)
    : loop_(on),
      identity_(std::move(identity)),
      judge_(std::move(judged)),
      carry_out_(std::move(carry_out)),
      lasts_(lasts) {}

// --- for another member ------------------------------------------------------------------------

void order_relay::give(core::election_index which, core::left_order what,
                       api::control_handler done) {
  if (store_ == nullptr) return done(std::unexpected(api::refusal_at_the_end()));
  what.id = base::hex(loop_.random_bits());
  const std::string id = what.id;
  auto one = std::make_unique<waiting>(loop_);
  one->which = which;
  one->member = what.wanted.member;
  one->done = std::move(done);
  one->patience.after(lasts_, [this, id] { withdraw(id); });
  waiting_.emplace(id, std::move(one));
  store_->leave_order(
      which, std::move(what), loop_.now() + lasts_, [this, id](stores::order_outcome left) {
        const auto* why = std::get_if<stores::unknown>(&left);
        if (why == nullptr || !waiting_.contains(id)) return;
        finish(id,
               std::unexpected(api::refusal(
                   503, "store_unknown", "the order could not be left in the store: " + why->why,
                   "see whether it is carried out, and ask again if not")));
      });
}

/// No member is known to have taken the order. Once it is gone from the store, nobody can; if
/// somebody had, it stays there, and has the answer.
void order_relay::withdraw(const std::string& id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end() || store_ == nullptr) return;
  store_->drop_order(
      found->second->which, id, loop_.now() + withdrawal_limit,
      [this, id](stores::order_outcome dropped) {
        const auto one = waiting_.find(id);
        if (one == waiting_.end()) return;
        const std::string& member = one->second->member;
        const auto cannot_tell = [&](const std::string& why) {
          finish(id, std::unexpected(api::refusal(
                         503, "store_unknown",
                         "it is not known whether " + member + " carries it out: " + why,
                         "see whether it is carried out, and ask again if not")));
        };
        if (const auto* failed = std::get_if<stores::unknown>(&dropped)) {
          return cannot_tell(failed->why);
        }
        const auto& was = std::get<stores::order_written>(dropped);
        if (was.reply) return finish(id, result_of(*was.reply, member));
        if (!was.done) return cannot_tell("the order is not in the store any more");
        finish(id, std::unexpected(api::refusal(
                       503, "no_taker",
                       member + " has not taken the order within " + core::text(lasts_) +
                           "; nothing is done",
                       "see whether its agent runs and reaches the store, or ask it directly")));
      });
}

void order_relay::finish(const std::string& id, api::control_result with) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  const std::unique_ptr<waiting> one = std::move(found->second);
  waiting_.erase(found);
  one->done(std::move(with));
}

// --- for this member ---------------------------------------------------------------------------

/// An answered order stays in the store until its time is over: a member that has not heard whether
/// its answer counts finds it there.
void order_relay::seen(core::election_index which, const std::vector<core::left_order>& orders) {
  if (store_ == nullptr) return;
  auto& ours = taken_[which];
  std::erase_if(ours, [&](const auto& known) {
    return std::ranges::find(orders, known.first, &core::left_order::id) == orders.end();
  });
  for (const core::left_order& one : orders) {
    if (one.reply && waiting_.contains(one.id)) {
      finish(one.id, result_of(*one.reply, one.wanted.member));
    }
    if (one.wanted.member != identity_) continue;
    const auto known = ours.find(one.id);
    if (known == ours.end()) {
      if (!one.reply) take(which, one);
    } else if (one.reply && one.reply->accepted) {
      obey(which, known->second);
    }
  }
}

/// Answers first, and obeys when the store is known to have accepted a yes, by what comes first:
/// the reply to the request or the watch, which has told the client as well.
void order_relay::take(core::election_index which, const core::left_order& what) {
  const auto it = std::make_shared<taken>(taken{.what = what});
  taken_[which].emplace(what.id, it);
  const core::order_reply reply = reply_of(judge_(which, what));
  store_->answer_order(which, what.id, reply, loop_.now() + lasts_,
                       [this, which, it, reply](const stores::order_outcome& answered) {
                         if (store_ == nullptr) return;
                         const auto* written = std::get_if<stores::order_written>(&answered);
                         if (written != nullptr && written->done && reply.accepted) obey(which, it);
                       });
}

/// Once. Obeying may lead to another look at the watch, after which nobody else has `one`.
void order_relay::obey(core::election_index which, taken_ptr one) {
  if (std::exchange(one->obeyed, true)) return;
  carry_out_(which, one->what);
}

void order_relay::close() {
  store_ = nullptr;
  for (auto& [id, one] : std::exchange(waiting_, {})) {
    one->done(std::unexpected(api::refusal_at_the_end()));
  }
}

}  // namespace tenure::runtime
