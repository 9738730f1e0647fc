#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fake_http.hpp"
#include "lease_model.hpp"

namespace tenure::tests {

/// A fake: it stands in for a kube-apiserver, keeps Leases of one namespace as that does where it
/// is not told otherwise, and lies where it is. Every test with it is about replies that no API
/// server gives, or that a real one gives only when it is overloaded, restored or misconfigured.
class fake_kubernetes {
 public:
  using answer = fake_http::answer;

  using reply = lease_model::reply;

  fake_kubernetes();

  /// See `fake_http`.
  void on(const std::string& name, answer how) { http_.on(name, std::move(how)); }
  void on(const std::string& name, const std::string& body) { http_.on(name, body); }
  /// From now on requests of this name are carried out, and what they answer with status 200 or 201
  /// is changed by this.
  void change(const std::string& name, const std::function<void(nlohmann::json&)>& by);
  /// Tells the truth again.
  void repent(const std::string& name) { http_.on(name, answer()); }
  void repent();

  /// Carries a request out as an API server would.
  reply truth(const std::string& request);
  static void say(peer& to, const reply& what);
  /// The head of a watch, and one document of it.
  static void begin_watch(peer& to);
  static bool show(peer& to, const std::string& text);

  /// Watches as an API server, until `end_watches` or the client ends it.
  void watch(peer& to, const std::string& request);
  /// The same after `begin_watch`.
  void watch_on(peer& to, const std::string& request);
  /// Resets all watches that are open.
  void end_watches() { ++ends_; }

  /// Writes a Lease as another program would, or an operator.
  void put(const std::string& name, const nlohmann::json& spec);
  void annotate(const std::string& name, const std::string& key, const std::string& value);
  void remove(const std::string& name);
  /// The Lease with this name; null if there is none.
  [[nodiscard]] nlohmann::json lease(const std::string& name) const;
  [[nodiscard]] std::uint64_t version() const;

  [[nodiscard]] std::string endpoint() const { return http_.endpoint(); }
  [[nodiscard]] int count(const std::string& name) const { return http_.count(name); }

 private:
  void answer_as_kubernetes(peer& to, const std::string& request);
  [[nodiscard]] std::vector<lease_model::event> events_after(std::uint64_t version,
                                                             const std::string& target) const;

  mutable std::mutex mutex_;  ///< of all that follows but the server
  lease_model model_;
  std::atomic<int> ends_ = 0;  ///< how often all watches were ended
  fake_http http_;             ///< last: its threads use the rest
};

}  // namespace tenure::tests
