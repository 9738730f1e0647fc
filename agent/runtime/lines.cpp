#include "runtime/lines.hpp"

#include <algorithm>
#include <cstring>

#include "base/duration_text.hpp"
#include "base/time_text.hpp"
#include "core/timing.hpp"
#include "settings/store_kind.hpp"

namespace tenure::runtime {
namespace {

/// A duration for use inside a sentence.
std::string spoken(core::duration d) {
  return std::string(base::spoken(d).view());
}

std::string version_text(core::version version) {
  return std::to_string(core::number(version));
}

std::string signal_name(int signo) {
  const char* symbol = ::sigabbrev_np(signo);
  return symbol != nullptr ? std::string("SIG") + symbol : "signal " + std::to_string(signo);
}

/// How many equal lines were held back since the last one.
std::string repeated(std::uint64_t held_back) {
  if (held_back == 0) return {};
  return " (the " + std::to_string(held_back) + " times before were not logged)";
}

/// Writes a line for an election that has entered a phase.
void say_phase(log::logger& to, log::log_level level, std::string_view sentence,
               const log::speaker& who, core::phase state, core::version version) {
  to.write(level, sentence,
           {{"election", who.election},
            {"identity", who.identity},
            log::coded("state", core::name(state)),
            log::coded("version", version_text(version))});
}

}  // namespace

// --- the agent -------------------------------------------------------------------------------

void say_settings_warning(log::logger& to, std::string_view warning) {
  to.write(log::log_level::warn, warning);
}

void say_port_taken(log::logger& to, std::string_view setting, std::string_view usual,
                    std::string_view address, std::string_view why) {
  to.write(log::log_level::warn,
           "the default address " + std::string(usual) + " is in use; listening at " +
               std::string(address) +
               " instead, until this agent ends; for an address that stays, "
               "choose one with " +
               std::string(setting),
           {{"setting", setting}, {"address", address}, {"why", why}});
}

void say_cannot_listen(log::logger& to, std::string_view why) {
  to.write(log::log_level::error, "cannot listen; ending", {{"why", why}});
}

void say_cannot_listen_yet(log::logger& to, std::string_view why) {
  to.write(
      log::log_level::error,
      "cannot listen; the workload goes on, nobody can ask about it, and this agent tries again",
      {{"why", why}});
}

void say_cannot_hear_peers(log::logger& to, std::string_view why) {
  to.write(
      log::log_level::warn,
      "cannot listen at peer_listen; this member hears of the end of a term from the store alone",
      {{"why", why}});
}

void say_word_told(log::logger& to, const core::word& what, std::string_view whom) {
  to.write(log::log_level::debug, "told the next member that the term is over",
           {{"election", what.election}, {"version", core::number(what.ended)}, {"to", whom}});
}

void say_word_heard(log::logger& to, const core::word& what, bool is_believed) {
  to.write(log::log_level::debug, "heard that a term is over",
           {{"election", what.election},
            {"version", core::number(what.ended)},
            log::coded("believed", is_believed ? "yes" : "no")});
}

void say_listening(log::logger& to, const listeners& at, std::string_view identity,
                   std::uint64_t pid, std::uint64_t guard) {
  const log::log_field api("api", at.api);
  const log::log_field probe("probe", at.probe);
  const log::log_field socket("socket", at.socket);
  const log::log_field local("local_socket", at.local);
  const log::log_field us("identity", identity);
  if (guard == 0) {
    to.write(log::log_level::info, "listening", {api, probe, socket, local, us, {"pid", pid}});
  } else {
    to.write(log::log_level::info, "listening",
             {api, probe, socket, local, us, {"pid", pid}, {"guard", guard}});
  }
}

void say_token_unreadable(log::logger& to, std::string_view why) {
  to.write(log::log_level::warn,
           "orders over TCP are refused until the control token can be read; the file is read at "
           "each order",
           {{"why", why}});
}

void say_api_moved(log::logger& to, std::uint16_t told, std::string_view listening) {
  to.write(log::log_level::warn, "the workload's TENURE_API is not where this agent listens",
           {{"told_port", static_cast<std::uint64_t>(told)}, {"listening", listening}});
}

void say_hard_to_find(log::logger& to, log::log_level how_bad, std::string_view why) {
  to.write(how_bad, "commands on this machine will not find this agent by themselves",
           {{"why", why}});
}

void say_probe_is_open(log::logger& to, std::string_view address) {
  to.write(log::log_level::info,
           "other machines can reach the probe port; it shows them probes and metrics (names of "
           "elections and members) and takes no orders; use --probe-listen 127.0.0.1:8081 or "
           "off if they must not",
           {{"probe", address}});
}

void say_told_to_end(log::logger& to, std::string_view identity, int signo) {
  to.write(log::log_level::info, "told to end by " + signal_name(signo), {{"identity", identity}});
}

void say_no_reload(log::logger& to) {
  to.write(
      log::log_level::warn,
      "SIGHUP changes nothing: settings are read at the start only; restart the agent for others");
}

void say_ended(log::logger& to, std::string_view identity, int status) {
  to.write(log::log_level::info, "ended",
           {{"identity", identity}, {"status", static_cast<std::uint64_t>(status)}});
}

void say_slept(log::logger& to, std::string_view identity, core::duration lasted,
               std::uint64_t held_back) {
  to.write(
      log::log_level::warn,
      "the machine slept for " + spoken(lasted) + "; leases ran on meanwhile" + repeated(held_back),
      {{"identity", identity}, log::coded("slept", core::text(lasted))});
}

void say_late(log::logger& to, std::string_view identity, core::duration late,
              std::uint64_t held_back) {
  to.write(log::log_level::warn,
           "this agent stood still for " + spoken(late) +
               ": it was stopped, or got no processor; leases ran on meanwhile" +
               repeated(held_back),
           {{"identity", identity}, log::coded("late_by", core::text(late))});
}

void say_wall_jumped(log::logger& to, std::string_view identity, core::duration by,
                     std::uint64_t held_back) {
  to.write(log::log_level::info,
           "the wall clock was set; leases do not depend on it" + repeated(held_back),
           {{"identity", identity}, {"by", core::text(by)}});
}

// --- the store -------------------------------------------------------------------------------

void say_cannot_use_store(log::logger& to, std::string_view store, std::string_view why) {
  to.write(log::log_level::error, "cannot use the store; ending", {{"store", store}, {"why", why}});
}

void say_store_tried_again(log::logger& to, std::string_view store, std::string_view why,
                           core::duration left) {
  to.write(
      log::log_level::warn,
      "cannot use the store yet; retrying: the workload that runs has " + spoken(left) + " left",
      {{"store", store}, {"why", why}});
}

void say_cannot_tell_kubernetes(log::logger& to, std::string_view identity, std::string_view why) {
  to.write(log::log_level::error, "Kubernetes is not told which pod is active: " + std::string(why),
           {{"identity", identity}});
}

void say_term_not_ended(log::logger& to, std::string_view identity, std::string_view why) {
  to.write(log::log_level::warn,
           "the term of a holder whose container has ended could not be ended; retrying while the "
           "store shows it",
           {{"identity", identity}, {"why", why}});
}

void say_ttl_impossible(log::logger& to, std::string_view store, core::duration ttl,
                        const stores::description& what) {
  to.write(log::log_level::error, "the store cannot keep leases of this ttl; set --ttl",
           {{"store", store},
            {"ttl", core::text(ttl)},
            {"least", core::text(what.min_ttl)},
            {"most", core::text(what.max_ttl)}});
}

void say_store_warning(log::logger& to, std::string_view store, std::string_view warning) {
  to.write(log::log_level::warn, warning, {{"store", store}});
}

void say_store_notice(log::logger& to, std::string_view store, const stores::notice& what) {
  to.write(what.is_trouble ? log::log_level::warn : log::log_level::info, what.text,
           {{"store", store}});
}

void say_store_reached(log::logger& to, const stores::description& what,
                       std::string_view identity) {
  to.write(log::log_level::info, "store reached",
           {{"store", what.store},
            {"version", what.server_version},
            {"cluster", what.cluster_id},
            {"identity", identity}});
}

void say_store_lost(log::logger& to, std::string_view identity, const store_failure& what) {
  std::string sentence = std::string(settings::title_of_store(what.store)) + " does not answer: ";
  sentence += std::string(what.operation) + " failed, retrying";
  if (!what.safe_for) {
    sentence += "; who holds the lease now is not known";
  } else if (*what.safe_for > core::duration::zero()) {
    sentence += "; the lease is safe for another " + spoken(*what.safe_for);
  } else {
    sentence += "; the lease has run out";
  }
  to.write(log::log_level::warn, sentence, {{"identity", identity}, {"why", what.why}});
}

void say_store_back(log::logger& to, std::string_view identity, std::string_view store,
                    core::duration gone_for) {
  to.write(
      log::log_level::info,
      std::string(settings::title_of_store(store)) + " answers again, after " + spoken(gone_for),
      {{"identity", identity}});
}

// --- who holds the lease ---------------------------------------------------------------------

namespace {

void say_holders(log::logger& to, std::string_view before, const log::speaker& who,
                 core::phase state, const std::vector<core::holder>& holders) {
  constexpr std::size_t most = 3;
  std::string sentence(before);
  for (std::size_t i = 0; i < std::min(most, holders.size()); ++i) {
    sentence += (i == 0 ? "" : ", ") + holders[i].identity;
  }
  if (holders.size() > most) {
    sentence += " and " + std::to_string(holders.size() - most) + " more";
  }
  if (holders.size() == 1) sentence += " (version " + version_text(holders.front().version) + ")";
  to.write(log::log_level::info, sentence,
           {{"election", who.election},
            {"identity", who.identity},
            log::coded("state", core::name(state)),
            log::coded("holder", holders.front().identity),
            log::coded("version", version_text(holders.front().version))});
}

}  // namespace

void say_standing_by(log::logger& to, const log::speaker& who,
                     const std::vector<core::holder>& holders) {
  say_holders(to, "standing by behind ", who, core::phase::candidate, holders);
}

void say_held(log::logger& to, const log::speaker& who, const std::vector<core::holder>& holders) {
  say_holders(to, "the lease is held by ", who, core::phase::observer, holders);
}

void say_vacant(log::logger& to, const log::speaker& who, const vacancy& what) {
  std::string sentence = "nobody holds the lease";
  if (!what.last.empty()) {
    const std::string last(what.last);
    if (!what.why.empty()) {
      sentence += ": " + last + " has released it (" + std::string(what.why) + ")";
    } else if (what.deleted) {
      sentence += ": that of " + last + " was deleted from the store";
    } else {
      sentence += ": " + last + " has not renewed it";
    }
  }
  to.write(log::log_level::info, sentence,
           {{"election", who.election},
            {"identity", who.identity},
            log::coded("state", core::name(what.state))});
}

void say_vanished(log::logger& to, const log::speaker& who, std::string_view holder,
                  std::optional<core::duration> left, std::string_view next) {
  std::string sentence = std::string(holder) + " has vanished while it held the lease";
  if (left) sentence += ", which ends in " + spoken(*left);
  if (!next.empty()) sentence += "; " + std::string(next) + " comes next";
  to.write(log::log_level::warn, sentence,
           {{"election", who.election}, {"identity", who.identity}, log::coded("holder", holder)});
}

void say_granted(log::logger& to, const log::speaker& who, core::version version,
                 core::duration lock_delay) {
  say_phase(to, log::log_level::info,
            "lease granted under version " + version_text(version) + "; waiting " +
                spoken(lock_delay) + " (lock delay): the previous holder left no release record",
            who, core::phase::pending, version);
}

void say_active(log::logger& to, const log::speaker& who, core::version version,
                const std::optional<api::outage>& outage) {
  std::string sentence = "active under version " + version_text(version);
  if (outage && outage->lasted_ms) {
    sentence += ", after " + length_text(*outage) + " without an active member";
  }
  say_phase(to, log::log_level::info, sentence, who, core::phase::active, version);
}

void say_active_again(log::logger& to, const log::speaker& who, core::version version) {
  say_phase(to, log::log_level::info,
            "active again under version " + version_text(version) +
                ": the store confirms the lease of the workload that runs",
            who, core::phase::active, version);
}

// --- the end of a term -----------------------------------------------------------------------

namespace {

const char* words_of(core::loss_reason why) {
  using core::loss_reason;
  switch (why) {
    case loss_reason::none:
      return "the lease is over";
    case loss_reason::renew_timeout:
      return "lease lost: no renewal was acknowledged in time";
    case loss_reason::taken_over:
      return "lease lost: the store shows that somebody else holds it";
    case loss_reason::session_invalid:
      return "lease lost: the store does not know this agent's session any more";
    case loss_reason::revoked:
      return "lease lost: it was deleted from the store";
    case loss_reason::suspended:
      return "lease lost: the machine slept until it had run out";
    case loss_reason::version_regressed:
      return "lease given back: its version is not above all that were seen before; was the store "
             "restored from a backup?";
    case loss_reason::ttl_too_short:
      return "lease given back: its ttl, which the store or the agent before has set, is too short "
             "for this agent's settings; restart the whole member, so that it gets a new lease";
    case loss_reason::unhealthy:
      return "giving the lease up: the workload is unhealthy";
    case loss_reason::resigned:
      return "giving the lease up";
    case loss_reason::preempted:
      return "giving the lease up: a member of higher priority is ready";
    case loss_reason::shutdown:
      return "giving the lease up: this member was told to end";
    case loss_reason::workload_exited:
      return "giving the lease up: its workload does not run any more";
    case loss_reason::guard_gone:
      return "giving the lease up: its guard cannot be relied on";
    case loss_reason::container_died:
      return "giving the lease up: the container of its workload has ended";
  }
  return "";
}

/// Whom a term is given up for, behind why.
std::string naming(std::string_view heir, core::loss_reason why) {
  if (why == core::loss_reason::preempted) return " (" + std::string(heir) + ")";
  return " in favour of " + std::string(heir);
}

std::string how_to_stop(const term_end& what) {
  if (what.ran_out_ago) {
    const std::string ago = "it ran out " + spoken(*what.ran_out_ago) + " ago";
    if (!what.time_to_stop) return ago;
    return ago + (what.signal == 0 ? ", and the workload is told to stop now"
                                   : ", and the guard stops the workload without the agent");
  }
  if (!what.time_to_stop) return {};
  if (*what.time_to_stop <= core::duration::zero()) return "the workload is killed now";
  const std::string left = spoken(*what.time_to_stop);
  if (what.signal == 0) return "the workload has " + left + " to stop";
  return "the workload gets " + signal_name(what.signal) + " now, and SIGKILL in " + left;
}

void say_with_end(log::logger& to, const log::speaker& who, const std::string& sentence,
                  const term_end& what) {
  const log::log_level level =
      core::is_trouble(what.why) ? log::log_level::warn : log::log_level::info;
  const log::log_field state = log::coded("state", core::name(core::phase::draining));
  const log::log_field reason = log::coded("reason", core::name(what.why));
  const log::log_field version = log::coded("version", version_text(what.version));
  if (!what.time_to_stop || what.ran_out_ago) {
    to.write(level, sentence,
             {{"election", who.election}, {"identity", who.identity}, state, version, reason});
    return;
  }
  to.write(level, sentence,
           {{"election", who.election},
            {"identity", who.identity},
            state,
            version,
            reason,
            log::coded("stop_by", base::time_text(what.stop_by_unix_ms).date_and_time())});
}

}  // namespace

void say_ending(log::logger& to, const log::speaker& who, const term_end& what) {
  std::string sentence = words_of(what.why);
  if (!what.heir.empty()) sentence += naming(what.heir, what.why);
  const std::string how = how_to_stop(what);
  if (!how.empty()) sentence += "; " + how;
  say_with_end(to, who, sentence, what);
}

void say_less_time(log::logger& to, const log::speaker& who, const term_end& what) {
  const std::string left =
      *what.time_to_stop <= core::duration::zero()
          ? "the workload that is being stopped is killed now"
          : "the workload that is being stopped has only " + spoken(*what.time_to_stop) + " left";
  say_with_end(to, who, std::string(words_of(what.why)) + "; " + left, what);
}

void say_released(log::logger& to, const log::speaker& who, core::version version) {
  to.write(log::log_level::info, "lease released",
           {{"election", who.election},
            {"identity", who.identity},
            log::coded("version", version_text(version))});
}

void say_aside(log::logger& to, const log::speaker& who, core::loss_reason why,
               core::duration pause) {
  // The end of the term has already said what an old version means.
  if (pause <= core::duration::zero() || why == core::loss_reason::version_regressed) return;
  std::string sentence = "paused: no campaign until it is resumed";
  if (pause != core::duration::max()) {
    sentence = "no campaign for " + spoken(pause) + ": others go first";
    if (why == core::loss_reason::unhealthy) sentence += ", because the workload was unhealthy";
  }
  to.write(log::log_level::info, sentence,
           {{"election", who.election}, {"identity", who.identity}});
}

void say_accepted(log::logger& to, const log::speaker& who, const stores::agree_outcome& said) {
  std::string sentence = "accepts versions from the store's present one on, as ordered";
  log::log_level level = log::log_level::info;
  if (const auto* no = std::get_if<stores::not_agreed>(&said)) {
    sentence = "refused to accept smaller versions: " + no->why;
  } else if (const auto* why = std::get_if<stores::unknown>(&said)) {
    level = log::log_level::warn;
    sentence =
        "told to accept smaller versions; whether they are accepted is not known: " + why->why;
  }
  to.write(level, sentence, {{"election", who.election}, {"identity", who.identity}});
}

void say_disagreement(log::logger& to, const log::speaker& who, const std::string& what,
                      bool is_error) {
  const auto level = is_error ? log::log_level::error : log::log_level::warn;
  to.write(what.empty() ? log::log_level::info : level,
           what.empty() ? std::string("campaigns again: the disagreement is settled")
                        : "does not campaign: " + what,
           {{"election", who.election}, {"identity", who.identity}});
}

void say_slots(log::logger& to, const log::speaker& who, std::uint32_t now, std::uint32_t before) {
  to.write(log::log_level::info,
           "the election has " + std::to_string(now) + (now == 1 ? " slot" : " slots") +
               " now, instead of " + std::to_string(before),
           {{"election", who.election}, {"identity", who.identity}});
}

void say_ordered(log::logger& to, const log::speaker& who, const core::order& what) {
  const std::string sentence = "told to " + std::string(core::name(what.what)) +
                               (what.heir.empty() ? "" : " in favour of " + what.heir);
  to.write(log::log_level::info, sentence,
           {{"election", who.election}, {"identity", who.identity}});
}

void say_order_passed_on(log::logger& to, const log::speaker& who, const core::order& what) {
  const std::string sentence = "passing the order to " + std::string(core::name(what.what)) +
                               " on to " + what.member + ", through the store";
  to.write(log::log_level::info, sentence,
           {{"election", who.election}, {"identity", who.identity}});
}

}  // namespace tenure::runtime
