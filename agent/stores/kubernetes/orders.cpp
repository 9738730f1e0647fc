#include "stores/kubernetes/orders.hpp"

#include <utility>

#include "base/number_text.hpp"
#include "stores/kubernetes/layout.hpp"
#include "stores/records/order_text.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// How often one change of an order tries again because others have written the Lease in between.
constexpr int most_changes = 5;

order_outcome done_if(bool it_is) {
  return order_written{.done = it_is};
}

}  // namespace

struct orders::change {
  core::election_index which{};
  std::string id;
  core::time_point deadline{};
  handler<order_outcome> done;
  std::function<decision(std::optional<std::string_view>)> decide;
  int tries = 0;
};

orders::orders(shared_state& of) : shared_(of), us_(base::hex(of.loop.random_bits())) {}

void orders::leave(core::election_index which, const core::left_order& what,
                   core::time_point deadline, handler<order_outcome> done) {
  const std::string text =
      order_note_text({.left_ms = shared_.servers.date_ms(), .order = order_text(what)});
  write(begin(which, what.id, deadline, std::move(done),
              [what, text](std::optional<std::string_view> there) -> decision {
                if (!there) return text;
                // The reply to the first try may be lost.
                const auto note = parse_order_note(*there);
                return std::unexpected(done_if(note && is_text_of(note->order, what)));
              }));
}

/// Replaces the order that the watch has shown, so the second of two answers fails.
void orders::answer(core::election_index which, const std::string& id, core::order_reply reply,
                    core::time_point deadline, handler<order_outcome> done) {
  // Nobody has left it: the mirror makes it out of what Kubernetes wants.
  if (is_preference(id)) return shared_.answer(std::move(done), done_if(true));
  const auto shown = shared_.seen(which).order(id, shared_.loop.now());
  if (!shown || shown->order.reply) return shared_.answer(std::move(done), done_if(false));
  core::left_order answered = shown->order;
  answered.reply = std::move(reply);
  const std::string after =
      order_note_text({.left_ms = parse_order_note(shown->annotation)->left_ms,
                       .order = order_text(answered, us_)});
  write(
      begin(which, id, deadline, std::move(done),
            [before = shown->annotation, after](std::optional<std::string_view> there) -> decision {
              if (there == before) return after;
              return std::unexpected(done_if(there == after));
            }));
}

void orders::drop(core::election_index which, const std::string& id, core::time_point deadline,
                  handler<order_outcome> done) {
  // What the watch has shown may be older than the order, or its answer.
  look(begin(which, id, deadline, std::move(done),
             [id](std::optional<std::string_view> there) -> decision {
               if (!there) return std::unexpected(done_if(false));
               const auto note = parse_order_note(*there);
               auto was = note ? parse_order(id, note->order) : std::nullopt;
               if (!was) return std::unexpected(unknown{"what is there is not an order"});
               if (!was->reply) return std::nullopt;
               return std::unexpected(order_written{.done = false, .reply = std::move(was->reply)});
             }));
}

/// A change makes of the order what `decide` says, if the Lease is as it was known then: no answer
/// is lost.
orders::change_ptr orders::begin(core::election_index which, const std::string& id,
                                 core::time_point deadline, handler<order_outcome> done,
                                 std::function<decision(std::optional<std::string_view>)> decide) {
  return std::make_shared<change>(change{.which = which,
                                         .id = id,
                                         .deadline = deadline,
                                         .done = std::move(done),
                                         .decide = std::move(decide)});
}

void orders::look(const change_ptr& c) {
  if (++c->tries > most_changes) {
    return shared_.answer(
        std::move(c->done),
        order_outcome(unknown{written_again_and_again(c->id, shared_.servers.present())}));
  }
  shared_.fetch(c->which, shared_.spec(c->which).name, c->deadline, [this, c](const auto& first) {
    first ? write(c)
          : shared_.answer(std::move(c->done), order_outcome(unknown{first.error().why}));
  });
}

void orders::write(const change_ptr& c) {
  const std::string& name = shared_.spec(c->which).name;
  const std::string annotation = std::string(order_annotations) + c->id;
  const lease_object* const first = shared_.seen(c->which).lease(name);
  const bool is_there = first != nullptr && first->notes.contains(annotation);
  const decision after =
      c->decide(is_there ? std::optional(first->note(annotation)) : std::nullopt);
  if (!after) return shared_.answer(std::move(c->done), after.error());
  shared_.write(c->which, name, first, {}, {{annotation, *after}}, c->deadline,
                [this, c](const std::expected<written_lease, call_failure>& what) {
                  if (what) return shared_.answer(std::move(c->done), done_if(true));
                  const error_meaning why = what.error().meaning;
                  if (why == error_meaning::conflict || why == error_meaning::missing) {
                    return look(c);
                  }
                  shared_.answer(std::move(c->done), order_outcome(unknown{what.error().why}));
                });
}

}  // namespace tenure::stores::kubernetes
