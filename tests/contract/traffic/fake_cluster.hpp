#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fake_http.hpp"
#include "kubernetes_status.hpp"

namespace tenure::tests {

/// A fake: it stands in for a kube-apiserver, keeps pods, EndpointSlices, Leases and Events of the
/// namespace "team" as that does where it is not told otherwise, and lies where it is.
///
/// The names of requests: "list", "get" and "write" (a PATCH) of pods and slices; "review" of a
/// right; "event"; "lease".
class fake_cluster {
 public:
  using answer = fake_http::answer;

  fake_cluster();

  /// See `fake_http`.
  void on(const std::string& name, answer how) { http_.on(name, std::move(how)); }
  void on(const std::string& name, const std::string& body) { http_.on(name, body); }
  void repent(const std::string& name) { http_.on(name, answer()); }
  void repent();
  /// Answers so the first `times`, and carries out what comes then.
  void on_first(const std::string& name, int times, answer how);

  /// Carries a request out as an API server would.
  void answer_truly(peer& to, const std::string& request);

  void put_pod(const std::string& name, const nlohmann::json& labels);
  void put_slice(const std::string& name, const std::string& type = "IPv4");
  void put_lease(const std::string& name);
  /// Changes an object as somebody else would.
  void change(const std::string& name, const std::function<void(nlohmann::json&)>& by);
  void forbid(const std::string& verb) { forbidden_.push_back(verb); }

  [[nodiscard]] nlohmann::json object(const std::string& name) const;
  [[nodiscard]] std::vector<nlohmann::json> events() const;
  /// The pod that says active by its label; empty if none does, all of them if several do.
  [[nodiscard]] std::string labelled() const;
  /// Whom a slice names.
  [[nodiscard]] std::string endpoint_of(const std::string& slice) const;

  [[nodiscard]] std::string endpoint() const { return http_.endpoint(); }
  [[nodiscard]] int count(const std::string& name) const { return http_.count(name); }

 private:
  nlohmann::json truth(const std::string& request, int& status);
  nlohmann::json patched(const std::string& request, nlohmann::json& object, int& status);
  void keep(nlohmann::json object);

  mutable std::mutex mutex_;  ///< of all that follows but the server
  std::map<std::string, nlohmann::json> objects_;
  std::vector<nlohmann::json> events_;
  std::vector<std::string> forbidden_;
  std::uint64_t version_ = 5;
  fake_http http_;  ///< last: its threads use the rest
};

}  // namespace tenure::tests
