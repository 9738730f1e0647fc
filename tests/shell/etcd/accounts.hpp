#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "raft_cluster.hpp"
#include "world.hpp"

namespace tenure::shell {

/// Why a request is not allowed: what gRPC says. `code` 0: it is allowed.
struct denial {
  int code = 0;
  std::string text{};

  explicit operator bool() const { return code != 0; }
};

/// The authentication of the modelled etcd: on or off, one user of the agents with a password, and
/// simple tokens, which each member keeps in its memory, and which expire. Other clients of the
/// cluster are another user, who may do anything.
class accounts {
 public:
  /// All tokens and passwords of the agents have this in them, and nothing else has.
  static constexpr std::string_view mark_of_secrets = "s3cr3t";
  /// What the requests of other clients bring along.
  static constexpr std::string_view token_of_others = "other";
  static constexpr std::string_view user = "tenure";

  accounts(world& in, const raft_cluster& members) : world_(in), members_(members) {}

  // What an operator does.
  void turn(bool on) { change(on_, on); }
  void set_password(std::string to) { change(password_, std::move(to)); }
  void set_token_life(core::duration to) { token_life_ = to; }
  /// The agents' user may touch no key of this range, from `begin` to before `end`.
  void deny(std::string begin, std::string end) {
    denied_[std::move(begin)] = std::move(end);
    ++revision_;
  }
  void allow_all() {
    denied_.clear();
    ++revision_;
  }

  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] const std::string& password() const { return password_; }
  /// Changes with everything that an operator does here.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

  /// Refuses a token that this member does not know. Called before any other check.
  [[nodiscard]] denial check_token(std::size_t member, const std::string& token);
  /// Refuses a request without a user, or whose user may not touch the keys from `begin` to before
  /// `end`; if `end` is empty, `begin` alone. Precondition: the token was checked.
  [[nodiscard]] denial check_access(const std::string& token, const std::string& begin,
                                    const std::string& end) const;
  /// The reply to a user who signs in: a token, or why not.
  [[nodiscard]] denial sign_in(const std::string& name, const std::string& password,
                               std::string& token);
  /// The process of this member ends.
  void forget(std::size_t member) { tokens_[member].clear(); }

 private:
  template <class Value>
  void change(Value& what, Value to) {
    if (what == to) return;
    what = std::move(to);
    ++revision_;
    for (auto& all : tokens_) all.clear();
  }

  world& world_;
  const raft_cluster& members_;
  bool on_ = false;
  std::string password_;
  core::duration token_life_ = std::chrono::seconds(300);
  std::uint64_t revision_ = 1;
  std::uint64_t issued_ = 0;
  std::map<std::string, std::string> denied_;  ///< ends of ranges by their beginnings
  /// Until when each member knows which token.
  std::array<std::map<std::string, world_time>, raft_cluster::most_members> tokens_;
};

}  // namespace tenure::shell
