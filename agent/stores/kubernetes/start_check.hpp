#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/kubernetes/shared_state.hpp"

namespace tenure::stores::kubernetes {

/// A warning about missing verbs begins so.
inline constexpr std::string_view lacks_verbs =
    "the user of the token lacks verbs for Leases in namespace ";

/// What a store asks a cluster before it uses it: its version, whether there is the namespace, and
/// what our user may do. Trying would show it late: a standby writes nothing.
///
/// Used on its loop only. No handler is called after the state is closed.
class start_check {
 public:
  struct findings {
    std::string server_version;            ///< empty: not known
    std::vector<std::string> warnings{};   ///< one line each
    std::optional<std::string> refusal{};  ///< why the store cannot be used
  };
  using handler_of_findings = std::move_only_function<void(findings)>;

  explicit start_check(shared_state& of) : shared_(of) {}

  /// Calls `then` once, a little after the deadline at the latest. If no server answers, little is
  /// found.
  void run(core::duration patience, handler_of_findings then);

 private:
  struct checking {
    core::time_point deadline{};
    findings found;
    std::vector<std::string> missing{};  ///< verbs
    std::size_t left = 1;
    handler_of_findings then;
  };
  using checking_ptr = std::shared_ptr<checking>;

  void ask_version(const checking_ptr& all);
  void look_for_namespace(const checking_ptr& all);
  void ask_for_verb(const checking_ptr& all, const std::string& verb, const std::string& lease);
  void ended(const checking_ptr& all);

  shared_state& shared_;
};

}  // namespace tenure::stores::kubernetes
