#include "stores/consul/orders.hpp"

#include <optional>
#include <utility>

#include "base/number_text.hpp"
#include "stores/consul/layout.hpp"
#include "stores/consul/requests.hpp"
#include "stores/records/order_text.hpp"

namespace tenure::stores::consul {
namespace {

/// The shortest TTL that Consul grants unless its servers are configured otherwise.
constexpr core::duration usual_ttl = std::chrono::seconds(10);
/// How often one drop tries again because the order was answered in between.
constexpr int most_drops = 4;

}  // namespace

orders::orders(shared_state& of) : shared_(of), us_(base::hex(of.loop.random_bits())) {}

void orders::leave(core::election_index which, core::left_order what, core::time_point deadline,
                   handler<order_outcome> done) {
  shared_.agents.call(
      create_session_request({.name = "tenure order",
                              .ttl = ttl_,
                              .lock_delay = core::duration::zero(),
                              .then = behavior::remove}),
      deadline,
      shared_.guarded([this, which, deadline, what = std::move(what),
                       done = std::move(done)](const reply_or_failure& made) mutable {
        if (!made && made.error().meaning == error_meaning::invalid && ttl_ < usual_ttl) {
          ttl_ = usual_ttl;
          return leave(which, std::move(what), deadline, std::move(done));
        }
        if (!made) {
          return shared_.answer(std::move(done), order_outcome(unknown{made.error().why}));
        }
        const auto session = session_in(*made);
        if (!session) {
          return shared_.answer(std::move(done),
                                order_outcome(shared_.broken_reply(session.error())));
        }
        leave_in(*session, which, what, deadline, std::move(done));
      }));
}

void orders::leave_in(const std::string& session, core::election_index which,
                      const core::left_order& what, core::time_point deadline,
                      handler<order_outcome> done) {
  const std::string key = order_key(shared_.spec(which).name, what.id);
  write_once(
      {check_absent{key}, lock{.key = key, .value = order_text(what), .session = session}}, key,
      [what](std::string_view there) { return is_text_of(there, what); }, deadline,
      std::move(done));
}

/// Replaces the key that the watch has shown, so the second of two answers fails. A key that has
/// changed may have our own answer: a call whose reply was lost is repeated.
void orders::answer(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline, handler<order_outcome> done) {
  const std::string key = order_key(shared_.spec(which).name, id);
  const kept_order* const shown = shared_.seen(which).order(key);
  if (shown == nullptr || shown->order.reply) {
    return shared_.answer(std::move(done), order_outcome(order_written{.done = false}));
  }
  core::left_order answered = shown->order;
  answered.reply = std::move(reply);
  const std::string after = order_text(answered, us_);
  write_once(
      {write{.key = key, .value = after, .index = shown->index}}, key,
      [after](std::string_view there) { return there == after; }, deadline, std::move(done));
}

/// Writes one key. If that is refused, the key may be there from a call whose reply was lost.
void orders::write_once(const std::vector<operation>& what, const std::string& key,
                        std::function<bool(std::string_view)> is_ours, core::time_point deadline,
                        handler<order_outcome> done) {
  shared_.transact(
      what, deadline,
      [this, key, is_ours = std::move(is_ours), deadline,
       done = std::move(done)](std::expected<transaction_reply, unknown> written) mutable {
        if (!written) {
          return shared_.answer(std::move(done), order_outcome(std::move(written.error())));
        }
        if (written->failed.empty()) {
          return shared_.answer(std::move(done), order_outcome(order_written{}));
        }
        read_back(key, std::move(is_ours), deadline, std::move(done));
      });
}

/// Done if what is there is ours.
void orders::read_back(const std::string& key, std::function<bool(std::string_view)> is_ours,
                       core::time_point deadline, handler<order_outcome> done) {
  shared_.transact(
      {fetch{key}}, deadline,
      [this, is_ours = std::move(is_ours),
       done = std::move(done)](std::expected<transaction_reply, unknown> read) mutable {
        if (!read) return shared_.answer(std::move(done), order_outcome(std::move(read.error())));
        for (const failed_operation& one : read->failed) {
          if (one.why != failure::other) continue;
          return shared_.answer(std::move(done),
                                order_outcome(unknown{shared_.agents.present() + ": " + one.what}));
        }
        shared_.answer(
            std::move(done),
            order_outcome(order_written{.done = read->failed.empty() && read->shown.size() == 1 &&
                                                is_ours(read->shown.front().value)}));
      });
}

void orders::drop(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) {
  look_and_drop(order_key(shared_.spec(which).name, id), id, deadline, std::move(done), 0);
}

void orders::look_and_drop(const std::string& key, const std::string& id, core::time_point deadline,
                           handler<order_outcome> done, int tries) {
  shared_.transact(
      {fetch{key}}, deadline,
      [this, key, id, deadline, done = std::move(done),
       tries](std::expected<transaction_reply, unknown> read) mutable {
        if (!read) return shared_.answer(std::move(done), order_outcome(std::move(read.error())));
        if (!read->failed.empty()) {
          const failed_operation& why = read->failed.front();
          return shared_.answer(
              std::move(done),
              why.why == failure::other
                  ? order_outcome(unknown{shared_.agents.present() + ": " + why.what})
                  : order_outcome(order_written{.done = false}));
        }
        auto was =
            read->shown.size() == 1 ? parse_order(id, read->shown.front().value) : std::nullopt;
        if (!was) {
          return shared_.answer(
              std::move(done),
              order_outcome(unknown{"what was in the order's key is not an order"}));
        }
        if (was->reply) {
          return shared_.answer(
              std::move(done),
              order_outcome(order_written{.done = false, .reply = std::move(was->reply)}));
        }
        drop_unchanged(key, id, read->shown.front().modify_index, deadline, std::move(done), tries);
      });
}

/// A key that was written since it was read was answered, or is gone.
void orders::drop_unchanged(const std::string& key, const std::string& id, std::uint64_t index,
                            core::time_point deadline, handler<order_outcome> done, int tries) {
  shared_.transact(
      {check_index{.key = key, .index = index}, erase{.key = key, .index = index}}, deadline,
      [this, key, id, deadline, done = std::move(done),
       tries](std::expected<transaction_reply, unknown> written) mutable {
        if (!written) {
          return shared_.answer(std::move(done), order_outcome(std::move(written.error())));
        }
        if (written->failed.empty()) {
          return shared_.answer(std::move(done), order_outcome(order_written{}));
        }
        if (tries == most_drops) {
          return shared_.answer(
              std::move(done),
              order_outcome(unknown{written_again_and_again(id, shared_.agents.present())}));
        }
        look_and_drop(key, id, deadline, std::move(done), tries + 1);
      });
}

}  // namespace tenure::stores::consul
