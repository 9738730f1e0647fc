#include "runtime/process_surroundings.hpp"

#include <utility>

#include "base/memory.hpp"
#include "base/runtime_directory.hpp"
#include "http/client/http_network.hpp"
#include "runtime/kubernetes_api.hpp"
#include "workload/guard_link.hpp"

namespace tenure::runtime {
namespace {

guard_result with_log(std::expected<std::unique_ptr<workload::guard_link>, std::string> link,
                      const guard_wish& how) {
  if (!link) return std::unexpected(std::move(link.error()));
  (*link)->log_as(how.form, how.fields);
  return std::move(*link);
}

class directory_search final : public guard_search {
 public:
  directory_search(http::asio_loop& on, const settings::agent& with, handler found)
      : on_(on),
        found_(std::move(found)),
        dialer_(on.executor(), with.guard_dir, with.guard_uid,
                [this](std::variant<guard::guard_fds, workload::no_guard> what) {
                  dialed(std::move(what));
                }) {}

  void start() override { dialer_.start(); }
  void start_later() override { dialer_.start_later(); }

 private:
  void dialed(std::variant<guard::guard_fds, workload::no_guard> what) {
    if (const auto* none = std::get_if<workload::no_guard>(&what)) return found_(*none);
    found_(guard_opener([&on = on_, fds = std::move(std::get<guard::guard_fds>(what))](
                            const guard_wish& how, guard_handler on_event) mutable {
      return with_log(
          workload::guard_link::over(on, on.executor(), std::move(fds),
                                     {.id = how.session, .is_bound = how.session_is_bound},
                                     std::move(on_event)),
          how);
    }));
  }

  http::asio_loop& on_;
  handler found_;
  workload::guard_dialer dialer_;
};

}  // namespace

std::expected<std::unique_ptr<stores::store>, stores::open_error> process_surroundings::make_store(
    stores::setup with) {
  return stores::make_store(loop_, std::move(with));
}

guard_result process_surroundings::connect_parent_guard(const guard_wish& how,
                                                        guard_handler on_event) {
  return with_log(
      workload::guard_link::from_environment(loop_, loop_.executor(),
                                             {.id = how.session, .is_bound = how.session_is_bound},
                                             std::move(on_event), how.foreign),
      how);
}

/// Another store, or another namespace of it, does not know the session.
run_record_result process_surroundings::open_run_record() {
  const std::string directory = base::runtime_directory(settings_.runtime_dir);
  if (directory.empty()) return std::unexpected(workload::no_record::unusable);
  std::string member = settings_.elections.front().name + ' ' + settings_.identity + ' ' +
                       settings_.store + ' ' + settings_.name_space;
  for (const std::string& one : settings_.endpoints) member += ' ' + one;
  return workload::open_run_record(directory, member);
}

std::unique_ptr<guard_search> process_surroundings::search_guard(guard_search::handler found) {
  return std::make_unique<directory_search>(loop_, settings_, std::move(found));
}

workload::hooks process_surroundings::make_hooks(const settings::hooks& with) {
  return workload::make_hooks(loop_, with);
}

std::vector<std::unique_ptr<health::health_check>> process_surroundings::make_health_checks(
    const settings::health& with) {
  return health::make_health_checks(loop_, with);
}

std::expected<std::unique_ptr<kube::api_server>, std::string>
process_surroundings::make_kubernetes_api(const settings::pod_cluster& to) {
  return runtime::make_kubernetes_api(loop_, http::over_network(loop_.executor()), to);
}

/// Drops code that only the start needs: reading command lines and files.
void process_surroundings::settled() {
  base::forget_code_pages();
}

}  // namespace tenure::runtime
