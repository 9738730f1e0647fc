#include <optional>
#include <string>

#include "base/number_text.hpp"
#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/client/order_request.hpp"
#include "cli/text/print.hpp"
#include "cli/verbs.hpp"
#include "config/values.hpp"
#include "runtime/exit_status.hpp"
#include "wire/order.hpp"

/// `tenure set`: changes the agreement of an election in the store.
namespace tenure::cli {
namespace {

std::string slots_sentence(const std::string& election, std::uint32_t slots, const char* since) {
  return election + " has " + std::to_string(slots) + (slots == 1 ? " slot" : " slots") +
         " in the store " + since;
}

std::string sentence_of(const std::string& election, std::uint32_t slots, bool accepted) {
  std::string out;
  if (slots > 0) {
    out = slots_sentence(election, slots, "now") +
          ". Members with another setting keep what they hold, and do not "
          "campaign: give them --slots " +
          std::to_string(slots) + " and restart them one after the other";
  }
  if (accepted) {
    out +=
        (out.empty() ? "" : ".\n") + std::string("in ") + election +
        " versions start again from the store's present one; resources that have seen larger ones "
        "refuse them until they are reset";
  }
  return out;
}

}  // namespace

int run_set(const invocation& what) {
  std::uint32_t slots = 0;
  if (const auto given = what.value("--slots")) {
    slots = base::read_number<std::uint32_t>(*given).value_or(0);
    if (slots == 0) return complain(what, "--slots " + *given + " is not a number above 0");
  }
  const bool accepts = what.has("--accept-versions");
  if (slots == 0 && !accepts) {
    return complain(what, "nothing to change: give --slots N or --accept-versions");
  }
  const auto which = election_address_of(what, meant::any, "");
  if (!which) return report_failure(what, which.error());
  auto request =
      order_request(what, which->election,
                    {.what = core::order_action::set, .slots = slots, .accept_versions = accepts});
  if (!request) return complain(what, request.error());
  const agent_answer done = ask_agent(which->agent, std::move(*request));
  if (!done) return report_failure(what, with_advice(done.error()));
  if (const auto order = wire::read_accepted_order(*done); order && order->unchanged) {
    return print_done(
        what, slots_sentence(which->election, slots, "already") + "; nothing has changed", *done);
  }
  return print_done(what, sentence_of(which->election, slots, accepts), *done);
}

}  // namespace tenure::cli
