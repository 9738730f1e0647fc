#include "etcd/accounts.hpp"

#include <algorithm>

namespace tenure::shell {
namespace {

constexpr int invalid_argument = 3;
constexpr int permission_denied = 7;
constexpr int failed_precondition = 9;
constexpr int unauthenticated = 16;

}  // namespace

denial accounts::check_token(std::size_t member, const std::string& token) {
  if (!on_ || token.empty() || token == token_of_others) return {};
  const auto known = tokens_[member].find(token);
  if (known == tokens_[member].end() || known->second <= world_.now) {
    return {unauthenticated, "etcdserver: invalid auth token"};
  }
  known->second = world_.now + token_life_;
  return {};
}

denial accounts::check_access(const std::string& token, const std::string& begin,
                              const std::string& end) const {
  if (!on_ || token == token_of_others) return {};
  if (token.empty()) return {invalid_argument, "etcdserver: user name is empty"};
  const bool refused = std::ranges::any_of(denied_, [&](const auto& range) {
    const auto& [first, last] = range;
    return begin < last && (end.empty() ? begin >= first : end > first);
  });
  if (refused) return {permission_denied, "etcdserver: permission denied"};
  return {};
}

denial accounts::sign_in(const std::string& name, const std::string& password, std::string& token) {
  if (!on_) return {failed_precondition, "etcdserver: authentication is not enabled"};
  if (name != user || password != password_) {
    return {invalid_argument, "etcdserver: authentication failed, invalid user ID or password"};
  }
  token = std::string(mark_of_secrets) + "-token-" + std::to_string(++issued_);
  for (std::size_t m = 0; m < tokens_.size(); ++m) {
    if (members_.well(m)) tokens_[m][token] = world_.now + token_life_;
  }
  return {};
}

}  // namespace tenure::shell
