#include <cstdio>
#include <string>

#include "base/percent_text.hpp"
#include "cli/client/ask.hpp"
#include "cli/client/local_agents.hpp"
#include "cli/verbs.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {

/// Exec probes have two results: no answer means no. A mistake in the question is neither, and must
/// be visible.
int run_probe(const invocation& what) {
  const auto agent = one_agent_of(what);
  if (!agent) return report_failure(what, agent.error());
  const std::string probe = what.value("PROBE").value_or("");
  std::string target = "/" + probe;
  if (const auto election = what.value("ELECTION")) {
    target += "?election=" + base::percent_encoded(*election);
  }
  const agent_answer answer = ask_agent(*agent, {.method = "GET", .target = target});
  if (answer) {
    std::printf("%s: yes\n", probe.c_str());
    return runtime::exit_ok;
  }
  std::printf("%s: no: %s\n", probe.c_str(), answer.error().text.c_str());
  return answer.error().status == runtime::exit_bad_settings ? runtime::exit_bad_settings
                                                             : runtime::exit_failed;
}

}  // namespace tenure::cli
