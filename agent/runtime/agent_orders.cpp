#include <algorithm>
#include <string>
#include <utility>

#include "core/check.hpp"
#include "os/boot_time.hpp"
#include "os/wall_time.hpp"
#include "runtime/agent_loop.hpp"

/// The part of the loop that carries out what people order.
namespace tenure::runtime {
namespace {

api::control_result refused(unsigned status, std::string code, std::string message,
                            std::string action) {
  return std::unexpected(api::control_refusal{
      .status = status,
      .why = {
          .code = std::move(code), .message = std::move(message), .action = std::move(action)}});
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& one : names) out += (out.empty() ? "" : ", ") + one;
  return out;
}

}  // namespace

api::control_result agent_loop::ordered(core::election_index which,
                                        const api::control_order& what) {
  const config::settings& s = options_.settings;
  if (ended_ || shutting_down_) {
    return refused(503, "stopping", "the agent was told to end", "ask another agent");
  }
  if (session_.size() == 0) {
    return refused(503, "not_started", "the agent has not begun its elections yet",
                   "ask again in a moment");
  }
  const core::election& election = session_.at(which);
  const std::string of = "election \"" + std::string(name_of(which)) + "\"";
  if (s.observe) {
    return refused(409, "observer", "this agent only watches " + of,
                   "ask the agent of a member; /v1/elections names the holder");
  }
  const bool gives_up =
      what.what == api::control_action::resign || what.what == api::control_action::transfer;
  if (gives_up) {
    if (auto why = may_give_up(which, what.heir); !why) return why;
  }
  const bool aside_for_good = what.what == api::control_action::pause;
  say_ordered(log_, speaker_of(which), what);
  snapshots_.changed(which);
  dirty_ = true;
  if (what.what == api::control_action::resume) {
    feed(which, core::event::resume{});
  } else {
    const core::duration aside =
        aside_for_good ? core::duration::max() : what.aside.value_or(election.settings().when.ttl);
    feed(which, core::event::resign{.aside = aside, .heir = what.heir});
  }
  return {};
}

/// Whether a term is there to be given up, and to `heir` if one is named.
api::control_result agent_loop::may_give_up(core::election_index which, const std::string& heir) {
  const core::election& election = session_.at(which);
  const core::election_view& view = election.view();
  const std::string of = "election \"" + std::string(name_of(which)) + "\"";
  const auto& seen = view.seen;
  if (view.phase != core::phase::pending && view.phase != core::phase::active) {
    const bool others = seen && !seen->holders.empty();
    return refused(
        409, "not_holder",
        "this member, " + options_.settings.identity + ", does not hold " + of + "; " +
            (others ? seen->holders.front().identity + " does" : std::string("nobody is seen to")),
        "ask the agent of the holder");
  }
  if (heir == options_.settings.identity) {
    return refused(409, "already_holder", "\"" + heir + "\" holds " + of + " already",
                   "name the member that is to hold next");
  }
  if (heir.empty() || !seen || !seen->members) return {};
  if (std::ranges::find(*seen->members, heir) == seen->members->end()) {
    return refused(
        409, "not_a_member",
        "\"" + heir + "\" is not a member of " + of + " now; these are: " + listed(*seen->members),
        "name one of these");
  }
  return {};
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
