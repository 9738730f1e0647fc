#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "fake_http.hpp"

namespace tenure::tests {

/// A fake: a server that keeps sessions and keys as Consul does where it is not told otherwise, and
/// lies where it is. No session of it ends by itself; every test with it is about replies that no
/// Consul gives.
///
/// The names of requests: "self"; "lock key" (a read of that key alone), "read" and "watch" of all
/// keys; "create", "renew" and "destroy" of a session; "look" (a transaction that only reads) and
/// "write" (one that does not).
class fake_consul {
 public:
  using answer = fake_http::answer;

  struct reply {
    int status = 200;
    std::uint64_t index = 0;  ///< 0: without X-Consul-Index
    std::string body{};
  };

  fake_consul();

  /// See `fake_http`.
  void on(const std::string& name, answer how) { http_.on(name, std::move(how)); }
  void on(const std::string& name, const std::string& body) { http_.on(name, body); }
  /// From now on requests of this name are carried out, and answered with a change by this.
  void change(const std::string& name, std::function<void(reply&)> by);
  /// The same, of what the JSON of a reply with status 200 says.
  void change_json(const std::string& name, const std::function<void(nlohmann::json&)>& by);
  /// Tells the truth again.
  void repent(const std::string& name) { http_.on(name, answer()); }

  /// Carries a request out as Consul would.
  reply truth(const std::string& request);
  static void say(peer& to, const reply& what);

  /// From now on answers only requests for this namespace and partition, as a Consul in which
  /// nothing else is allowed: each must name them in its query, and each operation of a transaction
  /// itself.
  void serve_only(const std::string& name_space, const std::string& partition);

  /// Writes a key as another program would.
  void put(const std::string& key, const std::string& value, std::uint64_t flags = 0);

  [[nodiscard]] std::string endpoint() const { return http_.endpoint(); }
  [[nodiscard]] int count(const std::string& name) const { return http_.count(name); }

 private:
  using keys = std::map<std::string, nlohmann::json>;

  void answer_as_consul(peer& to, const std::string& request);
  [[nodiscard]] bool is_elsewhere(const std::string& name, const std::string& request) const;
  [[nodiscard]] std::uint64_t index() const;
  reply session_call(const std::string& name, const std::string& request);
  reply shown(const std::string& key, bool all) const;
  reply transaction(const std::string& body);
  std::string carry_out(const nlohmann::json& operation, keys& on, nlohmann::json& results) const;

  mutable std::mutex mutex_;                   ///< of all that follows but the server
  std::map<std::string, std::string> ttl_of_;  ///< per session
  std::string name_space_;                     ///< empty: any
  std::string partition_;
  keys keys_;
  std::uint64_t index_ = 5;
  fake_http http_;  ///< last: its threads use the rest
};

}  // namespace tenure::tests
