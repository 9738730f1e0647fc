#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guarded_pod.hpp"
#include "hooked_workload.hpp"
#include "judged_store.hpp"
#include "process.hpp"
#include "runtime/surroundings.hpp"
#include "sqlite/modelled_sqlite.hpp"
#include "stage.hpp"

namespace tenure::shell {

/// Listeners without a network: what they would serve can be looked at.
class modelled_listeners final : public runtime::agent_listeners {
 public:
  std::expected<void, std::string> open(runtime::served_agent what) override {
    serves_.emplace(std::move(what));
    return {};
  }
  [[nodiscard]] bool is_open() const override { return serves_.has_value(); }
  [[nodiscard]] std::optional<settings::listen_address> api_address() const override {
    return settings::listen_address{.host = "127.0.0.1", .port = 4040};
  }
  void stop() override {}

  /// The source of answers to clients; null before the listeners are open.
  [[nodiscard]] const api::published* published() const {
    return serves_ ? &serves_->published : nullptr;
  }
  /// A person's order.
  void order(core::election_index which, core::order what, api::control_handler done) {
    serves_->control(which, std::move(what), std::move(done));
  }

 private:
  std::optional<runtime::served_agent> serves_;
};

/// Who owns the workload of a pod; neither: it asks its agent by itself.
struct owned_workload {
  guarded_pod* guarded = nullptr;
  hooked_workload* hooked = nullptr;
};

/// What one agent gets from its modelled machine.
class modelled_surroundings final : public runtime::surroundings {
 public:
  modelled_surroundings(stage& s, const pod_machine& on, std::shared_ptr<process> loop,
                        const owned_workload& owned, heard_of_store& to)
      : stage_(s), on_(on), loop_(std::move(loop)), owned_(owned), to_(to) {}

  [[nodiscard]] base::event_loop& loop() override { return *loop_; }
  [[nodiscard]] base::clock_reading read_clocks() override;
  [[nodiscard]] std::expected<std::unique_ptr<stores::store>, stores::open_error> make_store(
      stores::setup with) override;
  [[nodiscard]] runtime::guard_result connect_parent_guard(const runtime::guard_wish& how,
                                                           runtime::guard_handler) override;
  [[nodiscard]] runtime::run_record_result open_run_record() override {
    return owned_.guarded->open_run_record();
  }
  [[nodiscard]] std::unique_ptr<runtime::guard_search> search_guard(
      runtime::guard_search::handler found) override;
  [[nodiscard]] workload::hooks make_hooks(const settings::hooks&) override {
    return owned_.hooked != nullptr ? owned_.hooked->make_hooks(loop_) : workload::hooks{};
  }
  /// A check of the workload has passed since this agent began.
  bool has_been_well = false;
  [[nodiscard]] std::vector<std::unique_ptr<health::health_check>> make_health_checks(
      const settings::health& with) override;
  [[nodiscard]] std::expected<std::unique_ptr<kube::api_server>, std::string> make_kubernetes_api(
      const settings::pod_cluster&) override {
    return stage_.kubelet->open(loop_);
  }
  [[nodiscard]] std::expected<std::unique_ptr<peer::channel>, std::string> open_channel(
      const settings::listen_address&, peer::channel::handler heard) override {
    return stage_.peers->open(on_.number, loop_, std::move(heard));
  }
  [[nodiscard]] modelled_listeners& asked_by() override { return listeners_; }
  void settled() override {}

  /// SIGKILL: what is destroyed from now on leaves everything as it is.
  void killed() { fate_->killed = true; }

 private:
  [[nodiscard]] std::expected<std::unique_ptr<stores::store>, stores::open_error> make_plain_store(
      stores::setup with);

  stage& stage_;
  const pod_machine& on_;
  std::shared_ptr<process> loop_;
  owned_workload owned_;
  heard_of_store& to_;
  modelled_listeners listeners_;
  std::shared_ptr<agent_fate> fate_ = std::make_shared<agent_fate>();
};

}  // namespace tenure::shell
