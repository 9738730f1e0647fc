#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stage.hpp"

namespace tenure::shell {

/// A client of etcd that contends for one election, as `etcdctl lock` and Go's
/// concurrency.Election do: a lease of its own, a key if there is none, a wait until all older keys
/// are gone, keepalives. It holds for a while, then it releases, or dies without a word and is
/// started again later. It does not know slots, lock_delay or versions that move back.
///
/// It stops acting when its lease has run out by its own count, from when a keepalive was sent.
class foreign_client {
 public:
  /// `number`: unique among pods and clients.
  foreign_client(stage& s, std::size_t number, std::string election, std::uint64_t seed);
  foreign_client(const foreign_client&) = delete;
  foreign_client& operator=(const foreign_client&) = delete;

  /// It releases its key, and does not contend any more.
  void retire();

 private:
  using answer = std::function<void(const nlohmann::json&)>;

  void contend();
  void put_key();
  void look();
  void judge_look(const nlohmann::json& found);
  void hold();
  void keep();
  void kept(const nlohmann::json& found, world_time sent_at);
  void stop_acting();
  void release();
  void over();
  /// Asks any member. No answer within a second counts as an empty one.
  void call(const std::string& path, const nlohmann::json& body, answer then);
  /// Calls `what` unless another attempt has begun, or it does not contend any more.
  void later(core::duration wait, void (foreign_client::*what)());
  [[nodiscard]] std::string key() const;

  stage& stage_;
  std::size_t number_;
  std::string election_;
  rng dice_;
  core::duration ttl_{};
  std::int64_t lease_ = 0;
  std::uint64_t attempt_ = 0;
  world_time until_{};  ///< it may act
  bool acts_ = false;
  bool retired_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace tenure::shell
