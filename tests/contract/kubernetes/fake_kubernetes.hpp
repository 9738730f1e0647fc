#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fake_http.hpp"

namespace tenure::tests {

/// A fake: it stands in for a kube-apiserver, keeps Leases of one namespace as that does where it
/// is not told otherwise, and lies where it is. Nothing in it checks a token or runs out; every
/// test with it is about replies that no API server gives, or that a real one gives only when it is
/// overloaded, restored or misconfigured.
///
/// The names of requests: "version"; "list" and "watch" of Leases; "get", "create", "try" (a
/// creation with dryRun), "write" (a PATCH) and "delete" of one.
class fake_kubernetes {
 public:
  using answer = fake_http::answer;

  struct reply {
    int status = 200;
    nlohmann::json body{};
  };

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
  struct event {
    std::uint64_t version = 0;
    nlohmann::json what;
  };

  void answer_as_kubernetes(peer& to, const std::string& request);
  [[nodiscard]] std::vector<event> events_after(std::uint64_t version,
                                                const std::string& target) const;
  [[nodiscard]] nlohmann::json listed(const std::string& target) const;
  void keep(nlohmann::json lease, const char* type);
  [[nodiscard]] reply try_to_create(nlohmann::json lease) const;
  reply create(nlohmann::json lease);
  reply patch(const std::string& name, const nlohmann::json& operations);
  reply erase(const std::string& name, const nlohmann::json& options);

  mutable std::mutex mutex_;  ///< of all that follows but the server
  std::map<std::string, nlohmann::json> leases_;
  std::vector<event> events_;
  std::uint64_t version_ = 5;
  std::uint64_t made_ = 0;
  std::atomic<int> ends_ = 0;  ///< how often all watches were ended
  fake_http http_;             ///< last: its threads use the rest
};

/// A metav1.Status, as API servers answer errors.
std::string status_json(int code, const std::string& reason, const std::string& message = "no");
/// The answer to a creation in a namespace that does not exist.
std::string no_namespace_json();

}  // namespace tenure::tests
