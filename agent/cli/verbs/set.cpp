#include <utility>

#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/client/order_request.hpp"
#include "cli/text/print.hpp"
#include "cli/verbs.hpp"
#include "runtime/exit_status.hpp"

/// `tenure set`: changes the agreement of an election in the store.
namespace tenure::cli {

int run_set(const invocation& what) {
  if (!what.has("--accept-versions")) {
    return complain(what, "nothing to change: give --accept-versions");
  }
  const auto which = election_address_of(what, meant::went_back, "");
  if (!which) return report_failure(what, which.error());
  auto request = order_request(what, which->election,
                               {.what = core::order_action::set, .accept_versions = true});
  if (!request) return complain(what, request.error());
  const agent_answer done = ask_agent(which->agent, std::move(*request));
  if (!done) return report_failure(what, with_advice(done.error()));
  return print_done(
      what,
      "in " + which->election +
          " versions start again from the store's present one; resources that have seen larger "
          "ones refuse them until they are reset",
      *done);
}

}  // namespace tenure::cli
