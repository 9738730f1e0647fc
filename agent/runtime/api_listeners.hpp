#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api/service.hpp"
#include "log/logger.hpp"
#include "runtime/surroundings.hpp"
#include "settings/agent.hpp"

namespace tenure::runtime {

/// The agent's HTTP listeners, according to the settings.
class api_listeners final : public agent_listeners {
 public:
  /// Both outlive it.
  api_listeners(const settings::agent& with, log::logger& to) : settings_(with), log_(to) {}

  std::expected<void, std::string> open(served_agent what) override;
  [[nodiscard]] bool is_open() const override { return service_ != nullptr; }
  [[nodiscard]] std::optional<settings::listen_address> api_address() const override {
    return service_ ? service_->api_address() : std::nullopt;
  }
  void stop() override {
    if (service_) service_->stop();
  }

 private:
  [[nodiscard]] std::string local_socket() const;
  bool give_way(const api::service_error& why, api::service_settings& with) const;
  [[nodiscard]] bool may_keep_port() const;
  void say_if_moved() const;

  const settings::agent& settings_;
  log::logger& log_;
  std::unique_ptr<api::service> service_;
  /// The port at which the workload was told to find the previous agent; 0: none.
  std::uint16_t told_api_port_ = 0;
};

}  // namespace tenure::runtime
