#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "http/asio_loop.hpp"
#include "runtime/api_listeners.hpp"
#include "runtime/surroundings.hpp"

namespace tenure::runtime {

/// This process, its kernel and its network.
class process_surroundings final : public surroundings {
 public:
  /// `settings` and `to` outlive it.
  process_surroundings(const boost::asio::any_io_executor& on, const settings::agent& settings,
                       log::logger& to)
      : loop_(on), settings_(settings), listeners_(settings, to) {}

  [[nodiscard]] base::event_loop& loop() override { return loop_; }
  [[nodiscard]] base::clock_reading read_clocks() override { return base::read_clocks(); }
  [[nodiscard]] std::expected<std::unique_ptr<stores::store>, stores::open_error> make_store(
      stores::setup with) override;
  [[nodiscard]] guard_result connect_parent_guard(const guard_wish& how,
                                                  guard_handler on_event) override;
  [[nodiscard]] run_record_result open_run_record() override;
  [[nodiscard]] std::unique_ptr<guard_search> search_guard(guard_search::handler found) override;
  [[nodiscard]] workload::hooks make_hooks(const settings::hooks& with) override;
  [[nodiscard]] std::vector<std::unique_ptr<health::health_check>> make_health_checks(
      const settings::health& with) override;
  [[nodiscard]] std::expected<std::unique_ptr<kube::api_server>, std::string> make_kubernetes_api(
      const settings::pod_cluster& to) override;
  [[nodiscard]] std::expected<std::unique_ptr<peer::channel>, std::string> open_channel(
      const settings::listen_address& at, peer::channel::handler heard) override {
    return peer::open_udp_channel(loop_, at, std::move(heard));
  }
  [[nodiscard]] agent_listeners& asked_by() override { return listeners_; }
  void settled() override;

 private:
  http::asio_loop loop_;
  const settings::agent& settings_;
  api_listeners listeners_;
};

}  // namespace tenure::runtime
