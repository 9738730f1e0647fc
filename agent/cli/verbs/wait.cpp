#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/boot_time.hpp"
#include "cli/client/agent_feed.hpp"
#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/client/wait_condition.hpp"
#include "cli/text/print.hpp"
#include "cli/verbs.hpp"
#include "config/values.hpp"
#include "runtime/exit_status.hpp"
#include "wire/election.hpp"

namespace tenure::cli {
namespace {

int complain(const std::string& why) {
  print_failure("wait", why);
  return runtime::exit_bad_settings;
}

/// What is known during the wait.
class waiting {
 public:
  waiting(const settings::endpoint& agent, const wait_condition& what)
      : agent_(agent), what_(what) {}

  /// True if the wait is over: the condition is met, or it never can be.
  bool take(const agent_answer& answer) {
    failure_.reset();
    in_doubt_ = false;
    if (!answer) return fail(answer.error());
    const auto all = wire::read_elections(*answer);
    if (!all) return fail(not_an_agent(agent_));
    // The list of an agent that has not started its elections.
    if (all->empty()) return false;
    if (all->size() > 1) return fail(which_election(agent_, *all));
    body_ = *answer;
    status_ = status_text(all->front());
    const met is = judge(what_, all->front());
    in_doubt_ = is == met::cannot_tell;
    if (in_doubt_ && !std::exchange(told_, true)) {
      print_failure("wait", "cannot tell: " + status_ + "; waiting");
    }
    return is == met::yes;
  }

  const std::optional<ask_failure>& failure() const { return failure_; }
  /// The agent answers, but does not know.
  bool in_doubt() const { return in_doubt_; }
  const std::string& status() const { return status_; }
  const std::string& body() const { return body_; }

 private:
  bool fail(ask_failure why) {
    const bool for_good = why.status == runtime::exit_bad_settings;
    if (!for_good && !std::exchange(told_, true)) {
      print_failure("wait", why.text + "; waiting for it");
    }
    failure_ = std::move(why);
    return for_good;
  }

  const settings::endpoint& agent_;
  const wait_condition& what_;
  std::optional<ask_failure> failure_;
  std::string status_;
  std::string body_;
  bool told_ = false;
  bool in_doubt_ = false;
};

}  // namespace

int run_wait(const invocation& what) {
  const auto condition = parse_condition(what.value("--for").value_or(""));
  if (!condition) return complain(condition.error());
  std::optional<core::duration> patience;
  if (const auto text = what.value("--timeout")) {
    const auto parsed = config::parse_duration(*text);
    if (!parsed) return complain(wrong_value("--timeout", parsed.error()));
    patience = *parsed;
  }
  using kind = wait_condition::kind;
  const bool of_member = condition->is == kind::active || condition->is == kind::standby;
  const auto whom = agent_of(what, named_election(what), of_member ? meant::self : meant::any);
  if (!whom) return report_failure(what, whom.error());

  waiting state(whom->agent, *condition);
  const core::time_point deadline = patience ? base::boot_now() + *patience : core::never;
  const bool over =
      follow_until(whom->agent, path_of(whom->election), deadline,
                   [&state](const agent_answer& answer) { return state.take(answer); });
  if (state.failure()) return report_failure(what, *state.failure());
  if (over) {
    if (what.output == output_form::json) {
      print_json(state.body());
    } else {
      std::puts(state.status().c_str());
    }
    return runtime::exit_ok;
  }
  if (state.in_doubt()) {
    return report_failure(
        what, failure(runtime::exit_cannot_tell, "cannot_tell", "cannot tell: " + state.status()));
  }
  const std::string text = "condition not met after " +
                           core::text(patience.value_or(core::duration::zero())) +
                           (state.status().empty() ? "" : ": " + state.status());
  return report_failure(what, failure(runtime::exit_timed_out, "timed_out", text));
}

}  // namespace tenure::cli
