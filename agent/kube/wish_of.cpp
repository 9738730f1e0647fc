#include "kube/wish_of.hpp"

namespace tenure::kube {

traffic_wish wish_of(const core::election& one, core::time_point now) {
  using kind = traffic_wish::kind;
  const core::election_view& view = one.view();
  if (one.may_go_on()) return {.what = kind::as_it_is};
  const bool holds = view.phase == core::phase::pending || view.phase == core::phase::active;
  if (!holds || !view.lease || now >= view.lease->stop_at) return {.what = kind::standby};
  const bool runs = view.workload_running || !one.settings().owns_workload;
  const bool is_active = view.phase == core::phase::active && runs;
  return {.what = is_active ? kind::active : kind::gaining, .version = view.lease->version};
}

}  // namespace tenure::kube
