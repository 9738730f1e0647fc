#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/boot_time.hpp"
#include "cli/client/agent_feed.hpp"
#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/client/order_progress.hpp"
#include "cli/client/order_request.hpp"
#include "cli/text/print.hpp"
#include "cli/verbs.hpp"
#include "config/values.hpp"
#include "runtime/exit_status.hpp"
#include "wire/election.hpp"
#include "wire/order.hpp"

/// `tenure resign`, `transfer`, `pause`, `resume`: the verbs are the API's.
namespace tenure::cli {
namespace {

constexpr const char* default_timeout = "60s";
constexpr core::duration quiet_for = std::chrono::seconds(2);

given_order order_of(const invocation& what) {
  const auto action = core::order_action_named(what.verb).value_or(core::order_action::resign);
  const char* const to = action == core::order_action::transfer ? "TO" : "--to";
  return {.what = action,
          .to = core::gives_up(action) ? what.value(to).value_or("") : "",
          .member = what.value("--member").value_or("")};
}

/// The request; or what is wrong with a file or a value.
std::expected<http::client_request, std::string> request_of(const invocation& what,
                                                            const given_order& given,
                                                            const election_address& to) {
  core::order order{.what = given.what, .member = given.member, .heir = given.to};
  const auto aside = core::gives_up(given.what) ? what.value("--aside") : std::nullopt;
  if (aside && !aside->empty()) {
    const auto duration = config::parse_duration(*aside);
    if (!duration) return std::unexpected(wrong_value("--aside", duration.error()));
    order.aside = *duration;
  }
  return order_request(what, to.election, order);
}

/// The election of an answer about a single one.
std::optional<wire::election_report> election_of(const agent_answer& answer) {
  if (!answer) return std::nullopt;
  auto all = wire::read_elections(*answer);
  return all && all->size() == 1 ? std::optional(std::move(all->front())) : std::nullopt;
}

/// Follows the election until the order is done, and prints the result.
int see_it_done(const invocation& what, const given_order& order, const election_address& which,
                const wire::election_report& before, core::duration patience) {
  order_reading last;
  std::string body;
  std::string said;
  bool may_say = false;
  std::optional<ask_failure> unanswered;
  const auto say = [&] {
    if (!may_say || std::exchange(said, last.text) == last.text) return;
    print_failure(what.verb, last.text + "; waiting, for " + core::text(patience) + " at most");
  };
  const auto take = [&](const agent_answer& answer) {
    unanswered.reset();
    if (!answer) unanswered = answer.error();
    const auto now = election_of(answer);
    if (!now) return false;
    last = read_progress(order, before, *now);
    body = *answer;
    const bool is_over = last.is == progress::done || last.is == progress::otherwise;
    if (!is_over) say();
    return is_over;
  };
  const std::string path = path_of(which.election);
  const core::time_point start = base::boot_now();
  // Most orders are carried out at once, and then the result is all there is to say.
  const core::duration quiet = std::min<core::duration>(patience, quiet_for);
  if (!follow_until(which.agent, path, start + quiet, take) && quiet < patience) {
    may_say = true;
    if (!last.text.empty()) say();
    follow_until(which.agent, path, start + patience, take);
  }
  if (last.is == progress::done) return print_done(what, last.text, body);
  if (last.is == progress::otherwise) {
    print_done(what, last.text, body);
    return runtime::exit_failed;
  }
  if (last.is == progress::settled) {
    return print_done(what, last.text + " (waited " + core::text(patience) + ")", body);
  }
  if (!unanswered && last.is == progress::not_known) {
    unanswered = failure(runtime::exit_cannot_tell, "cannot_tell", last.text);
  }
  if (unanswered) {
    unanswered->text = "accepted, but it is not known whether it is done: " + unanswered->text;
    return report_failure(what, *unanswered);
  }
  ask_failure late = failure(runtime::exit_timed_out, "timed_out", last.text);
  late.text = "not done after " + core::text(patience) + ": " + last.text +
              "; it goes on, see tenure status --watch";
  return report_failure(what, late);
}

}  // namespace

int run_order(const invocation& what) {
  given_order order = order_of(what);
  const auto patience = config::parse_duration(what.value("--timeout").value_or(default_timeout));
  if (!patience) return complain(what, wrong_value("--timeout", patience.error()));
  // Without a member, pause and resume mean the one whose agent is asked.
  const auto which = election_address_of(
      what, core::gives_up(order.what) || !order.member.empty() ? meant::any : meant::self,
      order.member);
  if (!which) return report_failure(what, which.error());
  auto request = request_of(what, order, *which);
  if (!request) return complain(what, request.error());

  const agent_answer answer =
      ask_agent(which->agent, {.method = "GET", .target = path_of(which->election)});
  if (!answer) return report_failure(what, answer.error());
  const auto before = election_of(answer);
  if (!before) return report_failure(what, not_an_agent(which->agent));
  const agent_answer accepted = ask_agent(which->agent, std::move(*request));
  if (!accepted) return report_failure(what, with_advice(accepted.error()));
  const auto said = wire::read_accepted_order(*accepted);
  order.by = said && !said->by.empty() ? said->by : before->identity;
  if (what.has("--no-wait")) {
    return print_done(what, order.by + " has accepted it: " + what.verb + " of " + which->election,
                      *accepted);
  }
  return see_it_done(what, order, *which, *before, *patience);
}

}  // namespace tenure::cli
