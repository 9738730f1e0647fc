#include "stores/kubernetes/orders.hpp"

#include <optional>
#include <utility>

#include "base/number_text.hpp"
#include "stores/kubernetes/layout.hpp"
#include "stores/records/order_text.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// How often one drop tries again because the order was answered in between.
constexpr int most_drops = 4;

bool is_overtaken(error_meaning what) {
  return what == error_meaning::conflict || what == error_meaning::missing;
}

}  // namespace

orders::orders(shared_state& of) : shared_(of), us_(base::hex(of.loop.random_bits())) {}

void orders::leave(core::election_index which, const core::left_order& what,
                   core::time_point deadline, handler<order_outcome> done) {
  const std::string name = order_name(shared_.spec(which).name, what.id);
  const std::string text = order_text(what);
  shared_.create(
      which, name, {}, {{std::string(order_annotation), text}}, deadline,
      [this, which, name, text, deadline,
       done = std::move(done)](const std::expected<written_lease, call_failure>& left) mutable {
        if (left) return shared_.answer(std::move(done), order_outcome(order_written{}));
        if (left.error().meaning != error_meaning::conflict) {
          return shared_.answer(std::move(done), order_outcome(unknown{left.error().why}));
        }
        // The reply to the first try may be lost.
        read_back(which, name, text, deadline, std::move(done));
      });
}

/// Done if the order is what we have written.
void orders::read_back(core::election_index which, const std::string& name,
                       const std::string& expected, core::time_point deadline,
                       handler<order_outcome> done) {
  shared_.fetch(
      which, name, deadline, [this, expected, done = std::move(done)](const auto& fetched) mutable {
        if (!fetched) {
          return shared_.answer(std::move(done), order_outcome(unknown{fetched.error().why}));
        }
        const bool is_ours = fetched->has_value() && (*fetched)->note(order_annotation) == expected;
        shared_.answer(std::move(done), order_outcome(order_written{.done = is_ours}));
      });
}

/// Replaces the order that the watch has shown, so the second of two answers fails.
void orders::answer(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline, handler<order_outcome> done) {
  // Nobody has left it: the mirror makes it out of what Kubernetes wants.
  if (is_preference(id)) return shared_.answer(std::move(done), order_outcome(order_written{}));
  const auto shown = shared_.seen(which).order(id, shared_.loop.now());
  if (!shown || shown->order.reply) {
    return shared_.answer(std::move(done), order_outcome(order_written{.done = false}));
  }
  core::left_order answered = shown->order;
  answered.reply = std::move(reply);
  const std::string after = order_text(answered, us_);
  shared_.change(
      which, shown->lease, {}, {{std::string(order_annotation), after}}, deadline,
      [this, which, name = shown->lease.name, after, deadline,
       done = std::move(done)](const std::expected<written_lease, call_failure>& what) mutable {
        if (what) return shared_.answer(std::move(done), order_outcome(order_written{}));
        if (!is_overtaken(what.error().meaning)) {
          return shared_.answer(std::move(done), order_outcome(unknown{what.error().why}));
        }
        read_back(which, name, after, deadline, std::move(done));
      });
}

void orders::drop(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) {
  drop_again(which, id, deadline, std::move(done), 0);
}

/// Deletes the order as it was read, so that no answer is lost.
void orders::drop_again(core::election_index which, const std::string& id,
                        core::time_point deadline, handler<order_outcome> done, int tries) {
  shared_.fetch(
      which, order_name(shared_.spec(which).name, id), deadline,
      [this, which, id, deadline, done = std::move(done), tries](const auto& fetched) mutable {
        if (!fetched) {
          return shared_.answer(std::move(done), order_outcome(unknown{fetched.error().why}));
        }
        if (!fetched->has_value()) {
          return shared_.answer(std::move(done), order_outcome(order_written{.done = false}));
        }
        auto was = parse_order(id, (*fetched)->note(order_annotation));
        if (!was) {
          return shared_.answer(std::move(done),
                                order_outcome(unknown{"what was in the order's Lease is not an "
                                                      "order"}));
        }
        if (was->reply) {
          return shared_.answer(
              std::move(done),
              order_outcome(order_written{.done = false, .reply = std::move(was->reply)}));
        }
        shared_.remove(
            **fetched, deadline,
            [this, which, id, deadline, done = std::move(done),
             tries](const reply_or_failure& what) mutable {
              if (what) return shared_.answer(std::move(done), order_outcome(order_written{}));
              if (what.error().meaning == error_meaning::conflict && tries < most_drops) {
                return drop_again(which, id, deadline, std::move(done), tries + 1);
              }
              shared_.answer(std::move(done), order_outcome(unknown{what.error().why}));
            });
      });
}

}  // namespace tenure::stores::kubernetes
