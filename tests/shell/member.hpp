#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guarded_pod.hpp"
#include "log/logger.hpp"
#include "modelled_surroundings.hpp"
#include "process.hpp"
#include "runtime/agent.hpp"
#include "stage.hpp"

namespace tenure::shell {

/// One agent process: the `runtime::agent` that ships, from its start to its end.
class member {
 public:
  /// `trace`: its log is printed.
  member(stage& s, const pod_machine& on, std::uint32_t incarnation, const owned_workload& owned,
         bool trace);
  /// SIGKILL: nothing is said to anybody.
  ~member();
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  void pause() { loop_->pause(); }
  void go_on() { loop_->go_on(); }
  /// SIGTERM, or another signal that asks it to end.
  void terminate(int signo);
  /// A person gives it this order over its API.
  void order(std::size_t election, core::order what);

  /// True once it has ended by itself.
  [[nodiscard]] bool ended() const { return ended_; }
  /// It is not about to end: nobody has asked it to, nor does it give up a term, as when its
  /// workload has ended by itself.
  [[nodiscard]] bool stays() const;
  [[nodiscard]] bool opened() const { return agent_->elections().size() > 0; }
  [[nodiscard]] const core::election_view& view(std::size_t election) const {
    return agent_->elections()
        .at(core::election_index{static_cast<std::uint32_t>(election)})
        .view();
  }
  /// The store has granted it a smaller version than it has seen, and it campaigns no more.
  [[nodiscard]] bool is_held_back_by_versions(std::size_t election) const;
  /// Its log has said what an operator can do about that.
  [[nodiscard]] bool has_said_how_to_accept() const { return has_said_how_to_accept_; }
  /// What its watch shows, if it works: versions of holders.
  [[nodiscard]] const std::optional<std::vector<std::uint64_t>>& shown(std::size_t election) const {
    return heard_.shown[election];
  }
  /// The largest version that its store has told it of.
  [[nodiscard]] std::uint64_t newest() const { return heard_.newest; }
  /// What it answers a client now: the version under which it is active; nothing: it is not, or
  /// does not answer.
  [[nodiscard]] std::optional<core::version> answer(std::size_t election);
  /// A renewal that was sent at `asked_at` is answered: this session of Consul is gone.
  void hears_that_session_is_gone(const std::string& id, world_time asked_at);
  /// The version that its API shows as active in the first election, at whatever time; 0: none.
  /// Nothing: it has no API, or shows nothing yet.
  [[nodiscard]] std::optional<std::uint64_t> shown();
  /// True while it is in this term, and has not begun to give it up.
  [[nodiscard]] bool is_in(const std::string& which, std::uint64_t version) const;
  /// True while it is in any term.
  [[nodiscard]] bool is_in_term() const;
  /// It is in the list of members, if the store can be reached.
  [[nodiscard]] bool announces() const { return !settings_.unlisted; }
  /// Its watch shows that another run uses its identity.
  [[nodiscard]] bool is_told_of_twin(std::size_t election) const {
    return !ended_ && opened() && view(election).seen && view(election).seen->identity_in_use;
  }
  /// Called again and again: judges why it gives terms up.
  void judge_losses() const;

 private:
  [[nodiscard]] const core::lease* term_of(std::size_t election) const;
  void judge_campaign(core::election_index which);
  void note_terms();
  void judge_beliefs(std::optional<std::uint64_t> late,
                     std::optional<core::election_index> granted);
  void judge_line(const std::string& line);

  stage& stage_;
  const pod_machine& on_;
  std::shared_ptr<process> loop_;
  heard_of_store heard_;
  guarded_pod* guarded_;
  std::vector<std::uint64_t> present_;  ///< terms that it was in when it heard
  std::vector<std::uint64_t> overdue_;  ///< terms that it should have stopped before it heard
  bool has_said_how_to_accept_ = false;
  log::logger log_;
  modelled_surroundings machine_;
  settings::agent settings_;
  std::unique_ptr<runtime::agent> agent_;
  std::vector<std::unique_ptr<base::timer>> looks_;  ///< of the judge, by its own time
  bool ended_ = false;
  bool told_to_end_ = false;
};

}  // namespace tenure::shell
