#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "foreign_program.hpp"

namespace tenure::shell {

/// A client of Consul that contends for one election, as a command `consul` does: a session of its
/// own, which it renews. When it holds, it acts for a while; then it releases, or dies without a
/// word and is started again later. It knows neither lock_delay nor release records.
///
/// It stops acting when its session has run out by its own count, from when a renewal was sent.
class foreign_contender : public foreign_program {
 public:
  /// `number`: unique among pods and clients. Call `contend` once.
  foreign_contender(stage& s, std::size_t number, std::string election, std::uint64_t seed);
  virtual ~foreign_contender() = default;

  /// Makes a session, and asks for what it wants with that.
  void contend();
  /// It releases what it has, and does not contend any more.
  void retire();

 protected:
  /// Asks for what it wants, again and again, until `hold`.
  virtual void acquire() = 0;
  virtual void release() = 0;

  /// It has what it wants, by this key.
  void hold(const std::string& key);
  void over();
  [[nodiscard]] std::string prefix() const { return "/v1/kv/" + election_ + "/"; }

  std::string session_;
  const char* behavior_ = "release";

 private:
  void keep();

  core::duration ttl_{};
};

}  // namespace tenure::shell
