#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/asio_loop.hpp"
#include "runtime/doctor_findings.hpp"
#include "settings/agent.hpp"

namespace tenure::runtime {

/// For one answer of a server.
inline constexpr core::duration doctor_patience = std::chrono::seconds(5);

/// What the parts of `examine` share: the settings, a loop, and what was found.
struct examination {
  explicit examination(const settings::agent& settings) : of(settings), loop(io.get_executor()) {}

  void add(std::string_view check, verdict result, std::string text, std::string action = {}) {
    out.push_back({.check = std::string(check),
                   .result = result,
                   .text = std::move(text),
                   .action = std::move(action)});
  }
  void add(std::vector<finding> all) {
    for (finding& one : all) out.push_back(std::move(one));
  }

  /// Turns the loop until this is true. Precondition: what it waits for has a deadline.
  void turn_until(auto is_over) {
    while (!is_over()) {
      // It stops for good once it has nothing to do, as after a client was closed.
      if (io.run_one() == 0) io.restart();
    }
  }

  /// What a call that takes a handler calls it with.
  template <class Outcome>
  Outcome outcome_of(auto call) {
    std::optional<Outcome> came;
    call([&came](Outcome what) { came.emplace(std::move(what)); });
    turn_until([&came] { return came.has_value(); });
    return std::move(*came);
  }

  const settings::agent& of;
  boost::asio::io_context io{1};
  http::asio_loop loop;
  std::vector<finding> out{};
};

/// Is the store reached, who holds what in it, and does it grant the ttl?
void examine_store(examination& in);

/// May the user of these settings do what they need, and does the pod fit them?
void examine_cluster(examination& in);

}  // namespace tenure::runtime
