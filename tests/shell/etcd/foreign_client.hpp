#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "foreign_program.hpp"

namespace tenure::shell {

/// A client of etcd that contends for one election, as `etcdctl lock` and Go's
/// concurrency.Election do: a lease of its own, a key if there is none, a wait until all older keys
/// are gone, keepalives. It holds for a while, then it releases, or dies without a word and is
/// started again later. It does not know slots, lock_delay or versions that move back.
///
/// It stops acting when its lease has run out by its own count, from when a keepalive was sent.
class foreign_client : public foreign_program {
 public:
  /// `number`: unique among pods and clients.
  foreign_client(stage& s, std::size_t number, std::string election, std::uint64_t seed);

  /// It releases its key, and does not contend any more.
  void retire();

 private:
  using found_handler = std::function<void(const nlohmann::json&)>;

  void contend();
  void put_key();
  void look();
  void judge_look(const nlohmann::json& found);
  void hold();
  void keep();
  void kept(const nlohmann::json& found, world_time sent_at);
  void release();
  void over();
  /// As `call` does; an error counts as an empty answer.
  void ask(const std::string& path, const nlohmann::json& body, found_handler then);
  [[nodiscard]] std::string key() const;

  core::duration ttl_{};
  std::int64_t lease_ = 0;
};

}  // namespace tenure::shell
