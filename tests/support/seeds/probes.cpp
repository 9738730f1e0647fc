#include "support/seeds/probes.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/sometimes.hpp"

// Weak: a program without any probe has no such section.
extern "C" {
[[gnu::weak]] extern tenure::core::probe
    __start_tenure_probes;  // NOLINT(bugprone-reserved-identifier)
[[gnu::weak]] extern tenure::core::probe
    __stop_tenure_probes;  // NOLINT(bugprone-reserved-identifier)
}

namespace tenure::tests {
namespace {

struct seldom {
  std::string_view probe;
  /// With a blank between them; "all": then a unit test has to reach it.
  std::string_view simulators;
  std::string_view why;
};

constexpr std::string_view at_once =
    "two rare things at one instant, which the abstract simulator draws often";

constexpr std::string_view no_network =
    "a lease file answers at once, and seldom what was not asked";

/// What these simulators reach in fewer than eight of a thousand seeds, or never.
constexpr std::array<seldom, 36> rows{{
    {"acceptance_frees_a_member", "sim shell_consul shell_sqlite",
     "only after a restore, and the abstract simulator has none"},
    {"acquire_timed_out", "shell_sqlite", no_network},
    {"drain_without_its_acquires_answer", "shell_sim shell_consul shell_sqlite", at_once},
    {"drained_and_holds_a_newer_term", "shell_sim shell_consul shell_sqlite", at_once},
    {"etcd_watch_begins_before_a_compaction", "shell_sim",
     "a compaction between a read and the watch that follows it"},
    {"etcd_watch_has_lost_an_event", "shell_sim", "the modelled watches lose none"},
    {"etcd_watch_is_behind_its_read", "shell_sim",
     "a restore between a read and the watch that follows it"},
    {"found_after_its_term", "all",
     "a guard tells its agent of a workload before a watch shows anything"},
    {"found_one_that_was_stopping", "shell_consul shell_sqlite", at_once},
    {"found_while_aside", "all",
     "an agent that has just begun is seldom aside, ill or without a guard"},
    {"granted_a_smaller_version", "shell_sqlite", no_network},
    {"granted_after_its_deadline", "shell_sim shell_consul shell_kubernetes shell_sqlite", at_once},
    {"granted_an_ended_term", "shell_sqlite", no_network},
    {"granted_and_seen_gone", "shell_consul shell_sqlite", at_once},
    {"granted_another_term_than_the_found", "shell_sim shell_consul shell_kubernetes shell_sqlite",
     at_once},
    {"granted_too_late", "all", "no modelled store grants less than was asked for"},
    {"granted_too_short_a_ttl", "all", "no modelled store grants less than was asked for"},
    {"granted_while_aside", "shell_sim shell_consul shell_kubernetes shell_sqlite", at_once},
    {"granted_while_disagreeing", "sim shell_sim shell_consul shell_kubernetes shell_sqlite",
     "members that disagree are few, and the abstract ones agree"},
    {"granted_while_draining", "shell_sqlite", no_network},
    {"guard_refused_a_start", "sim", "a modelled agent and its guard share a clock"},
    {"heir_stood_aside", "sim shell_consul shell_sqlite",
     "an order to a member that has just had another"},
    {"killed_run_may_live", "shell_sim shell_consul shell_kubernetes shell_sqlite",
     "guard and agent are killed together and leave something that hides"},
    {"kubernetes_list_is_older_than_the_watch", "shell_kubernetes",
     "a restore that a watch outlives"},
    {"kubernetes_write_in_doubt_keeps_from_another_slot", "shell_kubernetes", at_once},
    {"loss_beside_a_newer_term", "shell_sim shell_consul shell_kubernetes shell_sqlite", at_once},
    {"model_connection_died_of_silence", "shell_sim shell_consul shell_kubernetes shell_sqlite",
     "a cut would have to last for ten seconds, which is longer than most leases"},
    {"model_leader_lost_its_quorum", "shell_sqlite", "a lease file has no servers"},
    {"model_packet_cut_off_on_its_way", "shell_sqlite", "a lease file has no network"},
    {"made_way", "shell_sim shell_consul shell_kubernetes shell_sqlite",
     "a term lasts four TTLs before it makes way, longer than most worlds are at peace"},
    {"older_release_seen_again", "sim",
     "it has neither slots with records of their own nor restores"},
    {"refused_while_adopting", "shell_sim shell_consul shell_kubernetes shell_sqlite", at_once},
    {"renewal_of_the_unanswered_failed", "sim shell_sim shell_consul shell_sqlite",
     "only over Leases is a renewal answered in parts"},
    {"unseen_workload_seen_dead", "sim", "its guard always tells what lives"},
    {"workload_stuck", "sim", "its guard always ends what it kills"},
    {"workload_unseen", "sim", "its guard always tells what lives"},
}};

bool is_in(const seldom& row, std::string_view simulator) {
  return row.simulators == "all" ||
         (" " + std::string(row.simulators) + " ").contains(" " + std::string(simulator) + " ");
}

bool is_seldom(std::string_view probe, std::string_view simulator) {
  return std::ranges::any_of(
      rows, [&](const seldom& one) { return one.probe == probe && is_in(one, simulator); });
}

/// True for a client, or a model, of a store that this simulator has not.
bool is_of_another_store(std::string_view file, std::string_view simulator) {
  constexpr auto stores = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"/etcd/", "shell_sim"},
       {"/consul/", "shell_consul"},
       {"/kubernetes/", "shell_kubernetes"},
       {"/sqlite/", "shell_sqlite"}});
  return std::ranges::any_of(
      stores, [&](const auto& one) { return file.contains(one.first) && one.second != simulator; });
}

}  // namespace

std::vector<probe_count> probe_counts() {
  std::vector<probe_count> out;
  for (const core::probe* at = &__start_tenure_probes; at != &__stop_tenure_probes; ++at) {
    out.push_back({.name = at->name,
                   .file = at->file,
                   .line = at->line,
                   .reached = __atomic_load_n(&at->reached, __ATOMIC_RELAXED)});
  }
  std::ranges::sort(out, {}, &probe_count::reached);
  return out;
}

std::vector<std::string> probe_faults(std::string_view simulator) {
  std::vector<std::string> out;
  const std::vector<probe_count> all = probe_counts();
  for (const probe_count& one : all) {
    const bool is_excused =
        is_seldom(one.name, simulator) || is_of_another_store(one.file, simulator);
    if (one.reached > 0 || is_excused) continue;
    out.push_back(std::string(one.name) + " was never reached: " + std::string(one.file) + ":" +
                  std::to_string(one.line));
  }
  for (const seldom& one : rows) {
    if (!is_in(one, simulator)) continue;
    if (std::ranges::find(all, one.probe, &probe_count::name) != all.end()) continue;
    out.push_back(std::string(one.probe) + " is said to be seldom reached, and does not exist");
  }
  return out;
}

}  // namespace tenure::tests
