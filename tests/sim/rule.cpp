#include "rule.hpp"

namespace tenure::sim {

const char* name(rule r) {
  switch (r) {
    case rule::none:
      return "none";
    case rule::too_many_running:
      return "too_many_running";
    case rule::too_many_claims:
      return "too_many_claims";
    case rule::version_not_larger:
      return "version_not_larger";
    case rule::version_went_back:
      return "version_went_back";
    case rule::holder_fenced_out:
      return "holder_fenced_out";
    case rule::released_while_running:
      return "released_while_running";
    case rule::released_in_use:
      return "released_in_use";
    case rule::armed_beyond_promise:
      return "armed_beyond_promise";
    case rule::armed_for_another:
      return "armed_for_another";
    case rule::armed_after_stop_at:
      return "armed_after_stop_at";
    case rule::entered_lost_term:
      return "entered_lost_term";
    case rule::outlived_lease:
      return "outlived_lease";
    case rule::outlived_news:
      return "outlived_news";
    case rule::stopped_without_cause:
      return "stopped_without_cause";
    case rule::killed_without_cause:
      return "killed_without_cause";
    case rule::claim_beyond_lease:
      return "claim_beyond_lease";
    case rule::campaign_in_shutdown:
      return "campaign_in_shutdown";
    case rule::started_late:
      return "started_late";
    case rule::started_over_previous:
      return "started_over_previous";
    case rule::campaign_over_previous:
      return "campaign_over_previous";
    case rule::campaign_over_release:
      return "campaign_over_release";
    case rule::campaign_too_soon:
      return "campaign_too_soon";
    case rule::busy_loop:
      return "busy_loop";
    case rule::no_holder:
      return "no_holder";
    case rule::did_not_end:
      return "did_not_end";
  }
  return "unknown";
}

}  // namespace tenure::sim
