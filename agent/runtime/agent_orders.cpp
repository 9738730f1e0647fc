#include <algorithm>
#include <string>
#include <utility>

#include "core/check.hpp"
#include "os/wall_time.hpp"
#include "runtime/agent_loop.hpp"

/// The part of the loop that carries out what people order.
namespace tenure::runtime {
namespace {

using api::refusal;

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& one : names) out += (out.empty() ? "" : ", ") + one;
  return out;
}

std::vector<std::string> names_of(const std::vector<core::holder>& holders) {
  std::vector<std::string> out;
  for (const core::holder& one : holders) out.push_back(one.identity);
  return out;
}

std::string who_holds(const std::vector<core::holder>& holders) {
  if (holders.empty()) return "nobody does";
  return listed(names_of(holders)) + (holders.size() == 1 ? " does" : " do");
}

}  // namespace

/// To this member or, through the store, to the one whose agent has to obey.
void agent_loop::ordered(core::election_index which, core::order what, api::control_handler done) {
  if (ended_ || shutting_down_) {
    return done(std::unexpected(api::refusal_at_the_end()));
  }
  if (session_.size() == 0) {
    return done(std::unexpected(refusal(
        503, "not_started", "the agent has not begun its elections yet", "ask again in a moment")));
  }
  if (what.what == core::order_action::set) return agree(which, what, std::move(done));
  auto order = addressed_to(which, std::move(what));
  if (!order) return done(std::unexpected(std::move(order.error())));
  const std::string member = order->wanted.member;
  if (options_.settings.observe || member != options_.settings.identity) {
    say_order_passed_on(log_, speaker_of(which), order->wanted);
    return order_relay_.give(which, std::move(*order), std::move(done));
  }
  if (auto why = objection_to(which, *order)) return done(std::unexpected(std::move(*why)));
  obey(which, *order);
  done(api::control_acceptance{.by = member});
}

/// What the election is stands in the store, so whoever is asked can change it.
void agent_loop::agree(core::election_index which, const core::order& what,
                       api::control_handler done) {
  const auto& seen = session_.at(which).view().seen;
  const bool unchanged = !what.accept_versions && seen && seen->agreed.slots == what.slots &&
                         snapshots_.is_vouched_for(which, loop_.now());
  store_->agree(
      which, {.slots = what.slots, .accept_versions = what.accept_versions},
      loop_.now() + stores::order_lasts,
      [this, which, what, unchanged, done = std::move(done)](stores::agree_outcome said) mutable {
        say_changed(log_, speaker_of(which), what, said);
        if (const auto* no = std::get_if<stores::not_agreed>(&said)) {
          return done(std::unexpected(refusal(409, "not_agreed", no->why, no->action)));
        }
        if (const auto* why = std::get_if<stores::unknown>(&said)) {
          return done(std::unexpected(
              refusal(503, "store_unknown", "whether it was changed cannot be told: " + why->why,
                      "see GET /v1/elections, and ask again if it was not")));
        }
        done(api::control_acceptance{.by = options_.settings.identity, .unchanged = unchanged});
      });
}

/// True while this member holds a term that it could give up.
bool agent_loop::may_act(core::election_index which) const {
  const core::phase now = session_.at(which).view().phase;
  return now == core::phase::pending || now == core::phase::active;
}

/// Who has to obey, and which term is meant, by what this agent knows now.
std::expected<core::left_order, api::control_refusal> agent_loop::addressed_to(
    core::election_index which, core::order what) const {
  const config::settings& s = options_.settings;
  const std::string of = "election \"" + std::string(name_of(which)) + "\"";
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
  const core::election_view& view = session_.at(which).view();
  const core::time_point now = loop_.now();
  if (!snapshots_.is_vouched_for(which, now)) {
    return std::unexpected(refusal(503, "store_unreachable",
                                   "who holds " + of + " is not known: " + contact_.why(now),
                                   "ask again in a moment, or ask the agent of the holder"));
  }
  const std::vector<core::holder>& holders = view.seen->holders;
  if (holders.empty()) {
    return std::unexpected(
        refusal(409, "not_held", "nobody holds " + of, "there is nothing to do"));
  }
  if (member.empty() && holders.size() > 1) {
    return std::unexpected(refusal(409, "several_holders",
                                   "several members hold " + of + ": " + listed(names_of(holders)),
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
  out.term = holder->term;
  return out;
}

/// Why this member, which is meant, does not obey.
std::optional<api::control_refusal> agent_loop::objection_to(core::election_index which,
                                                             const core::left_order& what) const {
  const std::string& identity = options_.settings.identity;
  const std::string of = "election \"" + std::string(name_of(which)) + "\"";
  if (options_.settings.observe) {
    return refusal(409, "observer", identity + " only watches " + of, "name a member");
  }
  if (shutting_down_) return refusal(409, "stopping", identity + " ends", "wait for its successor");
  if (!core::gives_up(what.wanted.what)) return std::nullopt;

  const core::election_view& view = session_.at(which).view();
  const auto& seen = view.seen;
  const std::string& heir = what.wanted.heir;
  if (heir == identity) {
    return refusal(409, "already_holder", heir + " holds " + of + " already",
                   what.wanted.what == core::order_action::transfer
                       ? "name another member"
                       : "name another member, or none");
  }
  const bool other_term =
      what.term != core::no_version && (!view.lease || view.lease->term != what.term);
  if (!may_act(which) || other_term) {
    return refusal(409, "not_holder",
                   identity + " does not hold " + of + " any more; " +
                       who_holds(seen ? seen->holders : std::vector<core::holder>()),
                   "ask again if that is still wanted");
  }
  if (heir.empty() || !seen || !seen->members) return std::nullopt;
  if (std::ranges::find(*seen->members, heir) == seen->members->end()) {
    return refusal(
        409, "not_a_member",
        "\"" + heir + "\" is not a member of " + of + " now; these are: " + listed(*seen->members),
        "name one of these");
  }
  return std::nullopt;
}

/// Precondition: there is no objection.
void agent_loop::obey(core::election_index which, const core::left_order& what) {
  const core::order& wanted = what.wanted;
  say_ordered(log_, speaker_of(which), wanted);
  snapshots_.changed(which);
  dirty_ = true;
  if (wanted.what == core::order_action::resume) return feed(which, core::event::resume{});
  const core::duration ttl = session_.at(which).settings().when.ttl;
  const bool for_good = wanted.what == core::order_action::pause;
  feed(which,
       core::event::resign{.aside = for_good ? core::duration::max() : wanted.aside.value_or(ttl),
                           .heir = wanted.heir});
}

void agent_loop::carry_out(core::election_index which, const core::command::release& c) {
  const core::election& election = session_.at(which);
  if (election.holding()) lines_[core::place(which)].releasing(election.view().lease->safe_until);
  store_->release(which, c.term,
                  {.clean = c.clean,
                   .why = election.view().last_loss,
                   .heir = election.heir(),
                   .at_unix_ms = os::wall_now_ms()},
                  c.deadline, [this, which, c](stores::release_outcome what) {
                    if (const auto* why = std::get_if<stores::unknown>(&what)) {
                      failed(store_request::release, why->why);
                      lines_[core::place(which)].not_released();
                      feed(which, core::event::release_unknown{.number = c.number});
                    } else {
                      answered(store_request::release);
                      feed(which, core::event::released{.number = c.number});
                    }
                  });
}

}  // namespace tenure::runtime
