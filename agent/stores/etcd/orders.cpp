#include "stores/etcd/orders.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/number_text.hpp"
#include "os/random.hpp"
#include "stores/etcd/order_text.hpp"

namespace tenure::stores::etcd {
namespace {

/// True if the transaction has read this value.
bool finds(const transaction_reply& what, const std::string& value) {
  return std::ranges::any_of(what.parts, [&](const transaction_reply::part& one) {
    const auto* read = std::get_if<range_reply>(&one);
    return read != nullptr && !read->values.empty() && read->values.front().value == value;
  });
}

}  // namespace

orders::orders(session& of) : session_(of), us_(core::hex(os::random_bits())) {}

void orders::leave(core::election_index which, core::left_order what, core::time_point deadline,
                   handler<order_outcome> done) {
  const std::int64_t lease = session_.self.ids.next();
  constexpr auto ttl = std::chrono::ceil<std::chrono::seconds>(order_lasts);
  session_.members.call(
      grant_path, grant_request(ttl.count(), lease), deadline,
      session_.guarded([this, which, lease, deadline, what = std::move(what),
                        done = std::move(done)](const reply_or_failure& granted) mutable {
        // Asked for twice, as the first reply was lost.
        if (!granted && granted.error().meaning != error_meaning::lease_exists) {
          return session_.answer(std::move(done), order_outcome(unknown{granted.error().why}));
        }
        const transaction write{.when = {},
                                .then = {put{.key = order_key(session_.spec(which).name, what.id),
                                             .value = order_text(what),
                                             .lease = lease}},
                                .otherwise = {}};
        carry_out(write, {}, deadline, std::move(done));
      }));
}

/// Compared with what the watch has shown: whoever comes second finds another value. It may be our
/// own, as a call whose reply was lost is repeated.
void orders::answer(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline, handler<order_outcome> done) {
  const std::string key = order_key(session_.spec(which).name, id);
  const kept_order* const shown = session_.seen(which).order(key);
  if (shown == nullptr || shown->order.reply) {
    return session_.answer(std::move(done), order_outcome(order_written{.done = false}));
  }
  core::left_order answered = shown->order;
  const std::string before = order_text(answered);
  answered.reply = std::move(reply);
  const std::string after = order_text(answered, us_);
  const auto is = [&](const std::string& value) {
    return compare{
        .key = key, .what = compare::field::value, .is = compare::relation::equal, .value = value};
  };
  const put write{.key = key, .value = after, .lease = shown->lease};
  carry_out({.when = {is(before)}, .then = {write}, .otherwise = {range{.key = key, .end = {}}}},
            after, deadline, std::move(done));
}

void orders::drop(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) {
  const std::string key = order_key(session_.spec(which).name, id);
  carry_out({.when = {{.key = key,
                       .what = compare::field::create_revision,
                       .is = compare::relation::greater,
                       .number = 0}},
             .then = {erase{.key = key}},
             .otherwise = {}},
            {}, deadline, std::move(done));
}

void orders::carry_out(const transaction& what, const std::string& own, core::time_point deadline,
                       handler<order_outcome> done) {
  session_.members.call(
      transaction_path, transaction_request(what), deadline,
      session_.guarded([this, own, done = std::move(done)](const reply_or_failure& reply) mutable {
        if (!reply) {
          // Its lease ended before the answer came.
          const bool gone = reply.error().meaning == error_meaning::lease_gone;
          return session_.answer(std::move(done), gone ? order_outcome(order_written{.done = false})
                                                       : order_outcome(unknown{reply.error().why}));
        }
        const auto parsed = parse_transaction(reply->body);
        if (!parsed) {
          return session_.answer(std::move(done),
                                 order_outcome(session_.broken_reply(parsed.error())));
        }
        const bool was_done = !own.empty() && finds(*parsed, own);
        session_.answer(std::move(done),
                        order_outcome(order_written{.done = parsed->succeeded || was_done}));
      }));
}

}  // namespace tenure::stores::etcd
