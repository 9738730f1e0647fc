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
#include "cli/client/reply_codec.hpp"
#include "cli/text/print.hpp"
#include "cli/verbs.hpp"
#include "config/values.hpp"
#include "runtime/exit_status.hpp"

/// `tenure resign`, `transfer`, `pause`, `resume`: the verbs are those of the API.
namespace tenure::cli {
namespace {

constexpr const char* default_timeout = "60s";

given_order order_of(const invocation& what) {
  const std::string member = what.value("--member").value_or("");
  if (what.verb == "transfer") {
    return {.what = order_kind::transfer, .to = what.value("TO").value_or(""), .member = member};
  }
  if (what.verb == "pause") return {.what = order_kind::pause, .member = member};
  if (what.verb == "resume") return {.what = order_kind::resume, .member = member};
  return {.what = order_kind::resign, .to = what.value("--to").value_or(""), .member = member};
}

bool gives_up(const given_order& order) {
  return order.what == order_kind::resign || order.what == order_kind::transfer;
}

/// The request; or what is wrong with a file or a value.
std::expected<http::client_request, std::string> request_of(const invocation& what,
                                                            const given_order& order,
                                                            const election_address& to) {
  const bool may_stand_aside = gives_up(order);
  const std::string aside = may_stand_aside ? what.value("--aside").value_or("") : "";
  if (!aside.empty()) {
    const auto duration = config::parse_duration(aside);
    if (!duration) return std::unexpected(wrong_value("--aside", duration.error()));
  }
  return order_request(what, to.election, order_json(order.to, aside, order.member));
}

/// The one election of an answer about it.
std::optional<election_report> election_of(const agent_answer& answer) {
  if (!answer) return std::nullopt;
  auto all = read_elections(*answer);
  return all && all->size() == 1 ? std::optional(std::move(all->front())) : std::nullopt;
}

/// Follows the election until the order is done, and says what has come of it.
int see_it_done(const invocation& what, const given_order& order, const election_address& which,
                const election_report& before, core::duration patience) {
  order_reading last;
  std::string body;
  std::optional<ask_failure> failure;
  follow_until(which.agent, path_of(which.election), base::boot_now() + patience,
               [&](const agent_answer& answer) {
                 failure.reset();
                 if (!answer) failure = answer.error();
                 const auto now = election_of(answer);
                 if (!now) return false;
                 last = read_progress(order, before, *now);
                 body = *answer;
                 return last.is == progress::done || last.is == progress::otherwise;
               });
  if (last.is == progress::done) return print_done(what, last.text, body);
  if (last.is == progress::otherwise) {
    print_done(what, last.text, body);
    return runtime::exit_failed;
  }
  if (last.is == progress::settled) {
    return print_done(what, last.text + " (waited " + core::text(patience) + ")", body);
  }
  if (!failure && last.is == progress::not_known) {
    failure = {.status = runtime::exit_cannot_tell,
               .text = last.text,
               .json = error_json("cannot_tell", last.text)};
  }
  if (failure) {
    failure->text = "accepted, but whether it is done cannot be told: " + failure->text;
    return report_failure(what, *failure);
  }
  return report_failure(what, {.status = runtime::exit_timed_out,
                               .text = "not done after " + core::text(patience) + ": " + last.text +
                                       "; it goes on, see tenure status --watch",
                               .json = error_json("timed_out", last.text)});
}

}  // namespace

int run_order(const invocation& what) {
  given_order order = order_of(what);
  const auto patience = config::parse_duration(what.value("--timeout").value_or(default_timeout));
  if (!patience) return complain(what, wrong_value("--timeout", patience.error()));
  // Without a member, pause and resume are of the one whose agent is asked.
  const auto which = election_address_of(
      what, gives_up(order) || !order.member.empty() ? meant::any : meant::self, order.member);
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
  order.by = accepting_member(*accepted).value_or(before->identity);
  if (what.has("--no-wait")) {
    return print_done(what, order.by + " has accepted it: " + what.verb + " of " + which->election,
                      *accepted);
  }
  return see_it_done(what, order, *which, *before, *patience);
}

}  // namespace tenure::cli
