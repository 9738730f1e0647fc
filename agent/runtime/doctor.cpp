#include "runtime/doctor.hpp"

#include <utility>

#include "runtime/doctor_examination.hpp"
#include "workload/guard_dialer.hpp"

namespace tenure::runtime {
namespace {

/// A guard talks to one agent at a time, so it is not asked anything.
void examine_guard(examination& in) {
  if (in.of.guard_dir.empty()) {
    return in.add("guard", verdict::skip, "no --guard-dir in these settings");
  }
  const auto found = workload::look_for_guard(in.of.guard_dir, in.of.guard_uid);
  if (found) {
    return in.add(
        "guard", verdict::ok,
        "one listens in " + in.of.guard_dir + "; only its agent knows whether it answers");
  }
  in.add("guard", verdict::bad, "in " + in.of.guard_dir + ": " + found.error().why);
}

}  // namespace

std::vector<finding> examine(const settings::agent& of) {
  examination all(of);
  examine_store(all);
  examine_cluster(all);
  examine_guard(all);
  return std::move(all.out);
}

}  // namespace tenure::runtime
