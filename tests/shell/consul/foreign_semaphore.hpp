#pragma once

#include <optional>
#include <set>

#include "consul/foreign_contender.hpp"

namespace tenure::shell {

/// `consul lock -n N`, step by step as the official client's Semaphore: a contender's key, a read
/// of all keys, and a check-and-set of the lock key without the holders that look dead to it.
class foreign_semaphore final : public foreign_contender {
 public:
  foreign_semaphore(stage& s, std::size_t number, std::string election, std::uint64_t seed);

 private:
  /// What the lock key says.
  struct lock_key {
    std::uint64_t index = 0;  ///< 0: there is none
    std::set<std::string> holders{};
  };

  void acquire() override;
  void release() override;
  void look();
  void take(const lock_key& seen);
  void leave(const reply& found);
  void write(const lock_key& seen, std::function<void(bool)> then);
  /// Nothing: it is not the semaphore that this client wants. `with_all`: the answer has all keys,
  /// and holders without a living session are left out.
  [[nodiscard]] std::optional<lock_key> lock_in(const reply& found, bool with_all) const;
  void again();
  [[nodiscard]] std::string key() const { return election_ + "/" + session_; }
};

}  // namespace tenure::shell
