#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "servers/kubernetes_server.hpp"
#include "support/eventually.hpp"

namespace tenure::servers {

/// The Leases of the namespace "default".
inline const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/// An answer, its body parsed.
struct kubernetes_reply {
  explicit kubernetes_reply(secure_answer what)
      : status(what.status),
        head(std::move(what.head)),
        body(nlohmann::json::parse(what.body, nullptr, false)),
        why(std::move(what.why)) {}

  /// What a JSON pointer names in the body; null if it has no such member.
  [[nodiscard]] nlohmann::json at(const char* pointer) const {
    const nlohmann::json::json_pointer where(pointer);
    return body.contains(where) ? body.at(where) : nlohmann::json();
  }
  [[nodiscard]] std::string text(const char* pointer) const {
    const nlohmann::json found = at(pointer);
    return found.is_string() ? found.get<std::string>() : "";
  }
  /// Of the object.
  [[nodiscard]] std::string version() const { return text("/metadata/resourceVersion"); }
  [[nodiscard]] std::string uid() const { return text("/metadata/uid"); }
  /// Of an error: "409 Conflict".
  [[nodiscard]] std::string reason() const {
    return std::to_string(status) + " " + text("/reason");
  }
  [[nodiscard]] std::string message() const { return text("/message"); }

  int status;
  std::string head;
  nlohmann::json body;
  std::string why;
};

inline void PrintTo(const kubernetes_reply& what, std::ostream* out) {
  *out << what.status << " " << what.body.dump() << what.why;
}

/// As numbers: for the order of versions, which grow by more than one.
inline std::uint64_t number(const std::string& version) {
  return version.empty() ? 0 : std::stoull(version);
}

/// A watch and the events that it has shown.
class kubernetes_watch {
 public:
  kubernetes_watch(const secure_caller& as, const std::string& target) : stream_(as, target) {}

  /// Its first `count` events, or all up to its end.
  std::vector<nlohmann::json> events(std::size_t count) {
    return until([count](const std::vector<nlohmann::json>& all) { return all.size() >= count; });
  }

  /// Up to the first of this type.
  std::vector<nlohmann::json> until_type(const std::string& type) {
    return until([&type](const std::vector<nlohmann::json>& all) {
      return std::ranges::any_of(all, [&](const auto& one) { return one.at("type") == type; });
    });
  }

  /// "ADDED MODIFIED", of the first `count`.
  std::string types(std::size_t count) {
    std::string all;
    for (const nlohmann::json& one : events(count)) {
      all += (all.empty() ? "" : " ") + one.at("type").get<std::string>();
    }
    return all;
  }

  [[nodiscard]] int status() const { return stream_.status(); }
  /// True once the server has ended it; waits for that.
  bool ends() {
    stream_.read_until([](std::string_view) { return false; }, patience);
    return stream_.ended();
  }
  [[nodiscard]] const std::string& body() const { return stream_.body(); }

 private:
  template <class Enough>
  std::vector<nlohmann::json> until(Enough enough) {
    const bool come =
        stream_.read_until([&](std::string_view all) { return enough(events_in(all)); }, patience);
    EXPECT_TRUE(come) << stream_.body();
    return events_in(stream_.body());
  }

  static std::vector<nlohmann::json> events_in(std::string_view text) {
    std::vector<nlohmann::json> all;
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      all.push_back(nlohmann::json::parse(text.substr(0, end), nullptr, false));
      text.remove_prefix(end + 1);
    }
    return all;
  }

  secure_stream stream_;
};

/// Tests with the shared server over one of `etcd_releases`, each with a Lease of its own.
class KubernetesScene : public ::testing::TestWithParam<server_release> {
 protected:
  void SetUp() override {
    if (!can_run()) GTEST_SKIP() << why_not();
    server_ = &shared_kubernetes_server(kubernetes_releases().front(), GetParam().name);
    static int made = 0;
    name_ = "lease-" + std::to_string(++made);
    path_ = leases + "/" + name_;
  }

  /// There are binaries of both.
  static bool can_run() { return why_not().empty(); }
  static std::string why_not() { return kubernetes_releases().front().why + GetParam().why; }

  kubernetes_reply call(std::string_view method, const std::string& path,
                        const nlohmann::json& body = nullptr, const kubernetes_request& more = {}) {
    return kubernetes_reply(server_->call(method, path, body.is_null() ? "" : body.dump(), more));
  }

  /// A Lease as clients write it.
  [[nodiscard]] nlohmann::json lease(const std::string& holder,
                                     const nlohmann::json& metadata = {}) const {
    nlohmann::json out{{"apiVersion", "coordination.k8s.io/v1"},
                       {"kind", "Lease"},
                       {"metadata", {{"name", name_}}},
                       {"spec",
                        {{"holderIdentity", holder},
                         {"leaseDurationSeconds", 15},
                         {"acquireTime", "2026-01-02T03:04:05.000000Z"},
                         {"renewTime", "2026-01-02T03:04:05.000000Z"},
                         {"leaseTransitions", 0}}}};
    if (metadata.is_object()) out["metadata"].update(metadata);
    return out;
  }

  kubernetes_reply create(const std::string& holder = "a", const nlohmann::json& metadata = {}) {
    kubernetes_reply made = call("POST", leases, lease(holder, metadata));
    EXPECT_EQ(made.status, 201) << ::testing::PrintToString(made);
    return made;
  }

  kubernetes_reply read() { return call("GET", path_); }

  /// Replaces it; without a version for an empty one.
  kubernetes_reply put(const std::string& holder, const std::string& version) {
    return call("PUT", path_,
                lease(holder, version.empty() ? nlohmann::json()
                                              : nlohmann::json{{"resourceVersion", version}}));
  }

  kubernetes_reply merge(const nlohmann::json& what) {
    return call("PATCH", path_, what, merge_patch);
  }
  kubernetes_reply patch(const nlohmann::json& what) {
    return call("PATCH", path_, what, json_patch);
  }
  kubernetes_reply remove(const nlohmann::json& options = nullptr) {
    return call("DELETE", path_, options);
  }

  /// "?watch=1&fieldSelector=metadata.name%3Dlease-1", followed by `more`.
  [[nodiscard]] std::string watching(const std::string& more) const {
    return leases + "?watch=1&fieldSelector=metadata.name%3D" + name_ + more;
  }
  [[nodiscard]] secure_caller as_operator() const { return server_->caller(server_->token()); }

  kubernetes_server* server_ = nullptr;
  std::string name_;
  std::string path_;
};

}  // namespace tenure::servers
