#include "stores/etcd/orders.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "base/number_text.hpp"
#include "stores/records/order_text.hpp"

namespace tenure::stores::etcd {
namespace {

/// How often one drop tries again because the order was answered in between.
constexpr int most_drops = 4;

/// The value that the transaction has read; null if there is none.
const std::string* value_read(const transaction_reply& what) {
  for (const transaction_reply::part& one : what.parts) {
    const auto* read = std::get_if<range_reply>(&one);
    if (read != nullptr && !read->values.empty()) return &read->values.front().value;
  }
  return nullptr;
}

}  // namespace

orders::orders(session& of) : session_(of), us_(base::hex(of.loop.random_bits())) {}

void orders::leave(core::election_index which, core::left_order what, core::time_point deadline,
                   handler<order_outcome> done) {
  const std::int64_t lease = session_.self.ids.next();
  make_lease(
      session_.endpoints, lease, order_stays, deadline,
      session_.guarded([this, which, lease, deadline, what = std::move(what),
                        done = std::move(done)](std::expected<kept_lease, unknown> made) mutable {
        if (!made) return session_.answer(std::move(done), order_outcome(std::move(made.error())));
        const std::string key = order_key(session_.spec(which).name, what.id);
        const transaction write{
            .when = {{.key = key, .what = compare::field::create_revision, .number = 0}},
            .then = {put{.key = key, .value = order_text(what), .lease = lease}},
            .otherwise = {range{.key = key, .end = {}}}};
        carry_out(
            write, deadline,
            [what](const transaction_reply& reply) -> order_outcome {
              const std::string* const value = value_read(reply);
              return order_written{.done = reply.succeeded || (value && is_text_of(*value, what))};
            },
            std::move(done));
      }));
}

/// Compares with the value that the watch has shown, so the second of two answers fails. A value
/// that differs may be our own: a call whose reply was lost is repeated.
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
  carry_out(
      {.when = {is(before)}, .then = {write}, .otherwise = {range{.key = key, .end = {}}}},
      deadline,
      [after](const transaction_reply& what) -> order_outcome {
        const std::string* const value = value_read(what);
        return order_written{.done = what.succeeded || (value && *value == after)};
      },
      std::move(done));
}

void orders::drop(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) {
  look_and_drop(order_key(session_.spec(which).name, id), id, deadline, std::move(done), 0);
}

void orders::look_and_drop(const std::string& key, const std::string& id, core::time_point deadline,
                           handler<order_outcome> done, int tries) {
  transact({.when = {}, .then = {range{.key = key, .end = {}}}, .otherwise = {}}, deadline,
           [this, key, id, deadline, done = std::move(done),
            tries](std::expected<transaction_reply, order_outcome> read) mutable {
             if (!read) return session_.answer(std::move(done), std::move(read.error()));
             const std::string* const value = value_read(*read);
             if (value == nullptr) {
               return session_.answer(std::move(done), order_outcome(order_written{.done = false}));
             }
             auto was = parse_order(id, *value);
             if (!was) {
               return session_.answer(
                   std::move(done),
                   order_outcome(unknown{"what was in the order's key is not an order"}));
             }
             if (was->reply) {
               return session_.answer(
                   std::move(done),
                   order_outcome(order_written{.done = false, .reply = std::move(was->reply)}));
             }
             drop_unchanged(key, id, *value, deadline, std::move(done), tries);
           });
}

/// A key that has changed since it was read was answered, or is gone.
void orders::drop_unchanged(const std::string& key, const std::string& id, const std::string& value,
                            core::time_point deadline, handler<order_outcome> done, int tries) {
  const compare same{
      .key = key, .what = compare::field::value, .is = compare::relation::equal, .value = value};
  transact(
      {.when = {same}, .then = {erase{.key = key}}, .otherwise = {}}, deadline,
      [this, key, id, deadline, done = std::move(done),
       tries](std::expected<transaction_reply, order_outcome> written) mutable {
        if (!written) return session_.answer(std::move(done), std::move(written.error()));
        if (written->succeeded) {
          return session_.answer(std::move(done), order_outcome(order_written{}));
        }
        if (tries == most_drops) {
          return session_.answer(
              std::move(done),
              order_outcome(unknown{written_again_and_again(id, session_.endpoints.present())}));
        }
        look_and_drop(key, id, deadline, std::move(done), tries + 1);
      });
}

void orders::carry_out(const transaction& what, core::time_point deadline, reader meaning,
                       handler<order_outcome> done) {
  transact(what, deadline,
           [this, meaning = std::move(meaning),
            done = std::move(done)](std::expected<transaction_reply, order_outcome> reply) mutable {
             session_.answer(std::move(done), reply ? meaning(*reply) : std::move(reply.error()));
           });
}

void orders::transact(const transaction& what, core::time_point deadline,
                      handler<std::expected<transaction_reply, order_outcome>> done) {
  session_.endpoints.call(
      transaction_path, transaction_request(what), deadline,
      session_.guarded([this, done = std::move(done)](const reply_or_failure& reply) mutable {
        if (!reply) {
          // The order's lease ended before the answer arrived.
          const bool gone = reply.error().meaning == error_meaning::lease_gone;
          return done(std::unexpected(gone ? order_outcome(order_written{.done = false})
                                           : order_outcome(unknown{reply.error().why})));
        }
        auto parsed = parse_transaction(reply->body);
        if (!parsed) {
          return done(std::unexpected(order_outcome(session_.broken_reply(parsed.error()))));
        }
        done(std::move(*parsed));
      }));
}

}  // namespace tenure::stores::etcd
