#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "stage.hpp"

namespace tenure::shell {

/// A workload that runs all the time and asks its agent, again and again, whether it may act. It
/// acts from a yes to a no, but no longer than `grace` after the last yes.
class reader {
 public:
  /// What its agent answers: a version, 0 for "not active", nothing if it does not answer.
  using question = std::function<std::optional<std::uint64_t>()>;

  reader(stage& s, const pod_machine& on, std::size_t election, question ask);
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

 private:
  void ask();
  void acts_under(std::uint64_t version);
  [[nodiscard]] const std::string& name() const { return stage_.elections[election_]; }

  stage& stage_;
  const pod_machine& on_;
  std::size_t election_;
  question ask_;
  std::uint64_t acts_ = 0;  ///< under this version; 0: it does not
  std::uint64_t yeses_ = 0;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace tenure::shell
