#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "servers/consul_server.hpp"

namespace tenure::servers {

/// What Consul shows of a key.
struct kv_entry {
  std::uint64_t lock_index = 0;
  std::uint64_t create_index = 0;
  std::uint64_t modify_index = 0;
  std::string session;

  friend bool operator==(const kv_entry&, const kv_entry&) = default;
};

inline kv_entry entry_in(const nlohmann::json& one) {
  return {.lock_index = one.at("LockIndex"),
          .create_index = one.at("CreateIndex"),
          .modify_index = one.at("ModifyIndex"),
          .session = one.value("Session", "")};
}

/// A real Consul, asked without our client: what we build on in it.
class RealConsul : public ::testing::TestWithParam<server_release> {
 protected:
  using json = nlohmann::json;
  /// The flags of `consul lock`'s key.
  static constexpr std::uint64_t lock_flags = 3304740253564472344;
  static constexpr const char* key = "db/.lock";

  void SetUp() override {
    if (GetParam().binary.empty()) GTEST_SKIP() << GetParam().why;
  }

  consul_cluster& start(std::size_t members = 1) {
    return cluster_.emplace(GetParam(), consul_options{.members = members, .flags = {}});
  }

  /// A session with this TTL, or none if it is empty.
  std::string session(const std::string& ttl = "60s", const std::string& lock_delay = "0s") {
    return session_at(0, {{"TTL", ttl}, {"LockDelay", lock_delay}});
  }

  /// A session without checks that belongs to the node of this member.
  std::string session_at(std::size_t member, json wanted) {
    wanted["NodeChecks"] = json::array();
    const consul_answer made = cluster_->call("PUT", "/v1/session/create", wanted.dump(), member);
    EXPECT_EQ(made.status, 200) << made.body;
    return json::parse(made.body, nullptr, false).value("ID", "");
  }

  consul_answer destroy(const std::string& which, std::size_t member = 0) {
    return cluster_->call("PUT", "/v1/session/destroy/" + which, "", member);
  }

  /// "true", "fals", or the beginning of an error.
  std::string acquire(const std::string& by, std::size_t member = 0,
                      const std::string& what = key) {
    return cluster_
        ->call("PUT", "/v1/kv/" + what + "?acquire=" + by + "&flags=" + std::to_string(lock_flags),
               "", member)
        .body.substr(0, 4);
  }

  [[nodiscard]] std::optional<kv_entry> read(std::size_t member = 0,
                                             const std::string& what = key) const {
    const consul_answer shown = cluster_->call("GET", "/v1/kv/" + what + "?consistent", "", member);
    if (shown.status != 200) return std::nullopt;
    return entry_in(json::parse(shown.body).at(0));
  }

  static json verb(const char* what, const std::string& who) {
    json out{{"Verb", what}, {"Key", key}};
    if (!who.empty()) out["Session"] = who;
    if (out["Verb"] == "lock") {
      out["Flags"] = lock_flags;
      out["Value"] = "bWU=";
    }
    return {{"KV", out}};
  }

  consul_answer transact(const json& operations) {
    return cluster_->call("PUT", "/v1/txn", operations.dump());
  }

  /// One transaction that takes the key from one session and gives it to the other.
  consul_answer hand_over(const std::string& from, const std::string& to) {
    return transact({verb("check-session", from), verb("unlock", from), verb("lock", to)});
  }

  std::optional<consul_cluster> cluster_;
};

}  // namespace tenure::servers
