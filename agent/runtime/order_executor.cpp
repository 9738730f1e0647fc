#include "runtime/order_executor.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/list_text.hpp"
#include "core/check.hpp"
#include "runtime/lines.hpp"
#include "settings/store_kind.hpp"

namespace tenure::runtime {
namespace {

using api::refusal;

std::vector<std::string> names_of(const std::vector<core::holder>& holders) {
  std::vector<std::string> out;
  for (const core::holder& one : holders) out.push_back(one.identity);
  return out;
}

std::string who_holds(const std::vector<core::holder>& holders) {
  if (holders.empty()) return "nobody does";
  return base::listed(names_of(holders)) + (holders.size() == 1 ? " does" : " do");
}

}  // namespace

order_executor::order_executor(const parts& with)
    : with_(with),
      inbox_(with.loop,
             [this](core::election_index which, core::order what, api::control_handler done) {
               ordered(which, std::move(what), std::move(done));
             }),
      relay_(
          with.loop, with.settings.identity,
          [this](core::election_index which, const core::left_order& what) {
            return objection_to(which, what);
          },
          [this](core::election_index which, const core::left_order& what) {
            // The term may have ended meanwhile.
            if (!closed_ && !objection_to(which, what)) obey(which, what);
          }) {}

void order_executor::begin(stores::store& through) {
  store_ = &through;
  relay_.begin(through);
}

void order_executor::seen(core::election_index which, const std::vector<core::left_order>& orders) {
  relay_.seen(which, orders);
}

void order_executor::close() {
  closed_ = true;
  inbox_.close();
  relay_.close();
}

/// Passes the order to this member or, through the store, to the member whose agent must obey.
void order_executor::ordered(core::election_index which, core::order what,
                             api::control_handler done) {
  if (closed_ || stopping_) {
    return done(std::unexpected(api::refusal_at_the_end()));
  }
  if (!with_.driver.begun()) {
    return done(
        std::unexpected(refusal(503, "not_started", "the agent has not started its elections yet",
                                "ask again in a moment")));
  }
  if (what.what == core::order_action::set) return accept_versions(which, std::move(done));
  auto order = addressed_to(which, std::move(what));
  if (!order) return done(std::unexpected(std::move(order.error())));
  const std::string member = order->wanted.member;
  if (with_.settings.observe || member != with_.settings.identity) {
    say_order_passed_on(with_.to, with_.reports.speaker_of(which), order->wanted);
    return relay_.give(which, std::move(*order), std::move(done));
  }
  if (auto why = objection_to(which, *order)) return done(std::unexpected(std::move(*why)));
  obey(which, *order);
  done(api::control_acceptance{.by = member});
}

/// Why smaller versions are not accepted: an operator who says it while all is well is about to
/// undo what protects resources from a holder of an older term.
std::optional<api::control_refusal> order_executor::objection_to_smaller_versions(
    core::election_index which) const {
  const core::election& one = election(which);
  const core::election_view& view = one.view();
  // A file says itself why it has no smaller versions to accept.
  const settings::store_kind* const kind = settings::find_store_kind(with_.settings.store);
  if (view.regressed || (kind != nullptr && kind->is_file())) return std::nullopt;
  const std::string of =
      "election \"" + std::string(with_.reports.speaker_of(which).election) + "\"";
  const core::time_point now = with_.loop.now();
  if (!with_.shown.is_vouched_for(which, now)) {
    return refusal(503, "store_unreachable",
                   "whether versions went back in " + of +
                       " is not known: " + with_.reports.contact().why(now),
                   "ask again when the store answers");
  }
  if (view.seen->as_of < one.highest_seen()) return std::nullopt;
  return refusal(409, "versions_in_order",
                 "nothing was changed: as far as " + with_.settings.identity +
                     " has seen, versions have not gone back in " + of,
                 "if another member says that they have (`tenure status`), give this order to its "
                 "agent (--api)");
}

/// The agreement is in the store, so any agent can change it.
void order_executor::accept_versions(core::election_index which, api::control_handler done) {
  if (auto why = objection_to_smaller_versions(which))
    return done(std::unexpected(std::move(*why)));
  store_->accept_versions(
      which, with_.loop.now() + stores::order_lasts,
      [this, which, done = std::move(done)](stores::agree_outcome said) mutable {
        say_accepted(with_.to, with_.reports.speaker_of(which), said);
        if (const auto* no = std::get_if<stores::not_agreed>(&said)) {
          return done(std::unexpected(refusal(409, "not_agreed", no->why, no->action)));
        }
        if (const auto* why = std::get_if<stores::unknown>(&said)) {
          return done(std::unexpected(
              refusal(503, "store_unknown", "it is not known whether it was changed: " + why->why,
                      "see GET /v1/elections, and ask again if it was not")));
        }
        done(api::control_acceptance{.by = with_.settings.identity});
      });
}

/// True while this member holds a term that it can give up.
bool order_executor::may_act(core::election_index which) const {
  const core::phase now = election(which).view().phase;
  return now == core::phase::pending || now == core::phase::active;
}

/// Which member must obey, and which term is meant, as far as this agent knows now.
std::expected<core::left_order, api::control_refusal> order_executor::addressed_to(
    core::election_index which, core::order what) const {
  const settings::agent& s = with_.settings;
  const std::string of =
      "election \"" + std::string(with_.reports.speaker_of(which).election) + "\"";
  core::left_order out{.wanted = std::move(what)};
  std::string& member = out.wanted.member;
  const bool by_us = !s.observe && (member.empty() || member == s.identity);
  if (by_us && (may_act(which) || !core::gives_up(out.wanted.what))) {
    member = s.identity;
    return out;
  }
  if (!core::gives_up(out.wanted.what)) {
    if (!member.empty()) return out;
    return std::unexpected(
        refusal(409, "observer", "this agent only watches " + of, "name the member that is meant"));
  }
  const core::election_view& view = election(which).view();
  const core::time_point now = with_.loop.now();
  if (!with_.shown.is_vouched_for(which, now)) {
    return std::unexpected(
        refusal(503, "store_unreachable",
                "who holds " + of + " is not known: " + with_.reports.contact().why(now),
                "ask again in a moment, or ask the agent of the holder"));
  }
  const std::vector<core::holder>& holders = view.seen->holders;
  if (holders.empty()) {
    return std::unexpected(refusal(409, "not_held", "nobody holds " + of,
                                   out.wanted.what == core::order_action::transfer
                                       ? "ask again when somebody does"
                                       : "there is nothing to do"));
  }
  if (member.empty() && holders.size() > 1) {
    return std::unexpected(
        refusal(409, "several_holders",
                "several members hold " + of + ": " + base::listed(names_of(holders)),
                "name the one that is meant"));
  }
  const auto holder = member.empty() ? holders.begin()
                                     : std::ranges::find(holders, member, &core::holder::identity);
  if (holder == holders.end()) {
    return std::unexpected(refusal(409, "not_holder",
                                   member + " does not hold " + of + "; " + who_holds(holders),
                                   "name a holder, or leave it out"));
  }
  member = holder->identity;
  out.version = holder->version;
  return out;
}

/// Why this member refuses an order that is meant for it.
std::optional<api::control_refusal> order_executor::objection_to(
    core::election_index which, const core::left_order& what) const {
  const std::string& identity = with_.settings.identity;
  const std::string of =
      "election \"" + std::string(with_.reports.speaker_of(which).election) + "\"";
  if (with_.settings.observe) {
    return refusal(409, "observer", identity + " only watches " + of, "name a member");
  }
  if (stopping_) return refusal(409, "stopping", identity + " ends", "wait for its successor");
  if (!core::gives_up(what.wanted.what)) return std::nullopt;

  const core::election_view& view = election(which).view();
  const auto& seen = view.seen;
  const std::string& heir = what.wanted.heir;
  if (heir == identity) {
    return refusal(409, "already_holder", heir + " holds " + of + " already",
                   what.wanted.what == core::order_action::transfer
                       ? "name another member"
                       : "name another member, or none");
  }
  const bool other_term =
      what.version != core::no_version && (!view.lease || view.lease->version != what.version);
  if (!may_act(which) || other_term) {
    return refusal(409, "not_holder",
                   identity + " does not hold " + of + " any more; " +
                       who_holds(seen ? seen->holders : std::vector<core::holder>()),
                   "ask again if that is still wanted");
  }
  if (heir.empty() || !seen || !seen->members) return std::nullopt;
  const core::member_list& members = *seen->members;
  if (members.find(heir) == nullptr) {
    return refusal(409, "not_a_member",
                   "\"" + heir + "\" is not a member of " + of +
                       " now; these are: " + base::listed(members, &core::member::identity),
                   "name one of these");
  }
  return std::nullopt;
}

/// Precondition: there is no objection.
void order_executor::obey(core::election_index which, const core::left_order& what) {
  const core::order& wanted = what.wanted;
  say_ordered(with_.to, with_.reports.speaker_of(which), wanted);
  with_.reports.changed(which);
  if (wanted.what == core::order_action::resume)
    return with_.driver.feed(which, core::event::resume{});
  const core::duration ttl = election(which).settings().when.ttl;
  const bool for_good = wanted.what == core::order_action::pause;
  with_.driver.feed(which, core::event::resign{.aside = for_good ? core::duration::max()
                                                                 : wanted.aside.value_or(ttl),
                                               .heir = wanted.heir});
}

}  // namespace tenure::runtime
