#include "kubernetes/kubernetes_troubles.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// No pod has such a number.
constexpr std::size_t first_client = 100;
constexpr std::size_t most_clients = 3;
/// Nobody is active for so long, at most, because nobody looks.
constexpr core::duration longest_absence = 15s;
constexpr std::int64_t most_writes_of_others = 1000;
constexpr std::uint32_t half = 500'000;
constexpr std::array annotations{"tenure.dev/term",  "tenure.dev/release", "tenure.dev/agreement",
                                 "tenure.dev/slots", "tenure.dev/epoch",   "tenure.dev/order-x"};

}  // namespace

kubernetes_troubles::kubernetes_troubles(stage& s, modelled_kubernetes& of, std::uint64_t seed,
                                         std::function<void(const std::string&)> say)
    : store_troubles(s, seed, std::move(say)),
      kubernetes_(of),
      restores_(dice_.chance(250'000)),
      has_clients_(dice_.chance(250'000)),
      edits_(dice_.chance(300'000)),
      has_nonsense_(dice_.chance(200'000)),
      upsets_servers_(dice_.chance(half)),
      disturbs_watches_(dice_.chance(half)) {}

void kubernetes_troubles::tell(std::vector<std::string>& traits) const {
  if (restores_) traits.emplace_back("restores");
  if (has_clients_) traits.emplace_back("clients");
  if (edits_) traits.emplace_back("edits");
  if (has_nonsense_) traits.emplace_back("nonsense");
  if (upsets_servers_) traits.emplace_back("upset_servers");
  if (disturbs_watches_) traits.emplace_back("disturbed_watches");
}

void kubernetes_troubles::plan(world_time quiet) {
  if (has_nonsense_) stage_.referee.is_written_over();
  if (restores_) {
    for (auto times = dice_.between(std::int64_t{1}, 2); times > 0; --times) plan_restore(quiet);
  }
  const auto several = [&](bool has, std::int64_t most, const std::function<void()>& what) {
    for (auto times = has ? dice_.between(std::int64_t{1}, most) : 0; times > 0; --times) {
      stage_.in.at(before(quiet), what);
    }
  };
  several(edits_, 8, [this] { edit(); });
  several(has_nonsense_, 8, [this] { write_nonsense(); });
  several(upsets_servers_, 6, [this, quiet] { upset_servers(quiet); });
  several(disturbs_watches_, 6, [this, quiet] { disturb_watches(quiet); });
  const std::size_t clients = has_clients_ ? 1 + dice_.below(most_clients) : 0;
  for (std::size_t i = 0; i < clients; ++i) {
    stage_.in.at(before(quiet),
                 [this, number = first_client + i, quiet] { add_client(number, quiet); });
  }
}

core::duration kubernetes_troubles::for_long(world_time quiet) {
  return std::min(dice_.spread(20ms, 3 * stage_.when.ttl), core::duration(quiet - stage_.in.now));
}

void kubernetes_troubles::add_client(std::size_t number, world_time quiet) {
  if (stage_.in.now >= quiet) return;
  say_("another client contends");
  clients_.push_back(
      std::make_unique<leader_elector>(stage_, number, any_election(), dice_.bits()));
}

// Restores ----------------------------------------------------------------------------------------

void kubernetes_troubles::plan_restore(world_time quiet) {
  const world_time when = before(quiet);
  const core::duration left = quiet - when;
  const core::duration ago = dice_.spread(1ms, std::max(core::duration(2ms), when - stage_.in.now));
  stage_.in.at(when - ago, [this] {
    backup_ = kubernetes_.back_up();
    say_("backed up at revision " + std::to_string(backup_.objects.revision()));
    if (dice_.chance(half)) {
      kubernetes_.others_write(
          static_cast<std::uint64_t>(dice_.between(std::int64_t{1}, most_writes_of_others)));
    }
  });
  stage_.in.at(when, [this, takes = std::min(left, dice_.spread(100ms, 2 * stage_.when.ttl))] {
    restore(takes);
  });
}

void kubernetes_troubles::restore(core::duration takes) {
  if (kubernetes_.is_halted()) return;
  say_("stopped, to be restored");
  kubernetes_.halt();
  stage_.in.after(takes, [this] {
    const std::uint64_t gap = kubernetes_.revision() - backup_.objects.revision();
    // None, too little, or enough.
    const std::uint64_t bump = dice_.chance(half)      ? 0
                               : dice_.chance(250'000) ? dice_.below(gap + 1)
                                                       : gap + dice_.below(1'000'000);
    say_("restored: " + std::to_string(gap) + " revisions back, raised by " + std::to_string(bump));
    kubernetes_.restore(backup_, bump);
    restored();
    stage_.in.after(dice_.between(core::duration(1s), longest_absence),
                    [this] { operator_comes(); });
  });
}

// Operators ---------------------------------------------------------------------------------------

void kubernetes_troubles::edit() {
  const std::string which = any_election();
  const std::string name = kubernetes_.any_held(which).value_or(which);
  const auto with = [&](const std::string& what, const std::function<void(json&)>& by) {
    if (kubernetes_.edit(name, by)) say_("an operator " + what + " " + name);
  };
  switch (dice_.below(8)) {
    case 0:
      return with("clears the holder of",
                  [](json& lease) { lease["spec"]["holderIdentity"] = ""; });
    case 1:
      return with("gives to somebody the Lease",
                  [](json& lease) { lease["spec"]["holderIdentity"] = nobodys_name; });
    case 2:
    case 3: {
      const std::int64_t seconds = dice_.between(std::int64_t{1}, 20);
      return with("sets to " + std::to_string(seconds) + " s the duration of",
                  [=](json& lease) { lease["spec"]["leaseDurationSeconds"] = seconds; });
    }
    case 4: {
      const char* const which_one = annotations[dice_.below(annotations.size())];
      return with("takes " + std::string(which_one) + " off", [=](json& lease) {
        if (lease["metadata"].contains("annotations")) {
          lease["metadata"]["annotations"].erase(which_one);
        }
      });
    }
    case 5:
      return put_back_later(name);
    case 6:
      return prefer_another(which);
    default: {
      std::vector<std::string> others;
      for (const auto& [other, one] : kubernetes_.objects().all()) {
        if (other.starts_with(which + ".")) others.push_back(other);
      }
      if (others.empty()) return;
      const std::string& gone = others[dice_.below(others.size())];
      if (kubernetes_.erase(gone)) say_("an operator deletes " + gone);
    }
  }
}

/// Takes a Lease from its holder, and gives it back as it was.
void kubernetes_troubles::put_back_later(const std::string& name) {
  const lease_state was = kubernetes_.objects().find(name);
  if (was == nullptr || !was->object.contains("spec")) return;
  if (!kubernetes_.edit(name, [](json& lease) { lease["spec"]["holderIdentity"] = ""; })) return;
  say_("an operator clears the holder of " + name + ", and puts it back later");
  stage_.in.after(dice_.spread(1ms, 2 * stage_.when.ttl), [this, name, was] {
    if (is_mended_) return;
    const bool done =
        kubernetes_.edit(name, [&](json& lease) { lease["spec"] = was->object.at("spec"); });
    if (done) say_("an operator puts back what was in " + name);
  });
}

/// As Kubernetes' coordinated leader election does.
void kubernetes_troubles::prefer_another(const std::string& election) {
  const std::string who =
      dice_.chance(half) ? std::string(nobodys_name) : identity_of(dice_.below(most_pods));
  const bool is_chosen = dice_.chance(750'000);
  const bool done = kubernetes_.edit(election, [&](json& lease) {
    lease["spec"]["strategy"] = "OldestEmulationVersion";
    if (is_chosen) lease["spec"]["preferredHolder"] = who;
  });
  if (!done) return;
  say_(election + " is to be held by " + (is_chosen ? who : "whom Kubernetes chooses"));
  stage_.in.after(dice_.spread(100ms, 2 * stage_.when.ttl),
                  [this, election] { clear_preference(election); });
}

void kubernetes_troubles::clear_preference(const std::string& election) {
  const bool done = kubernetes_.edit(election, [](json& lease) {
    if (!lease.contains("spec")) return;
    lease["spec"].erase("strategy");
    lease["spec"].erase("preferredHolder");
  });
  if (done) say_("anybody may hold " + election);
}

void kubernetes_troubles::write_nonsense() {
  const std::string which = any_election();
  const std::string name = kubernetes_.any_held(which).value_or(which);
  constexpr std::array values{
      "",       "x", "0", "-1 0", "0 0 1", "18446744073709551615", "1 2 x", "term=99999999 clean",
      "3 4 5 6"};
  const char* const key = annotations[dice_.below(annotations.size())];
  const char* const value = values[dice_.below(values.size())];
  const bool done =
      kubernetes_.edit(name, [&](json& lease) { lease["metadata"]["annotations"][key] = value; });
  if (done) say_("an operator writes \"" + std::string(value) + "\" to " + key + " of " + name);
}

// Servers -----------------------------------------------------------------------------------------

void kubernetes_troubles::upset_servers(world_time quiet) {
  using mood = modelled_kubernetes::mood;
  constexpr std::array moods{
      mood{.status = 429, .retry_after_s = 1, .reason = "TooManyRequests"},
      mood{.status = 429, .retry_after_s = 5, .reason = "TooManyRequests"},
      mood{.status = 429, .reason = "TooManyRequests"},
      mood{.status = 500},
      mood{.status = 503, .reason = "ServiceUnavailable"},
      mood{.status = 401, .reason = "Unauthorized"},
      mood{.status = 403, .reason = "Forbidden"},
      mood{.status = 0},
      mood{.status = 0},
  };
  mood how = moods[dice_.below(moods.size())];
  how.ppm = dice_.chance(half) ? 1'000'000 : static_cast<std::uint32_t>(dice_.below(1'000'000));
  const core::duration lasts = for_long(quiet);
  const bool is_all = dice_.chance(half);
  const std::size_t first = dice_.below(modelled_cluster::most_servers);
  say_((is_all ? "all servers answer " : "server " + std::to_string(first) + " answers ") +
       std::to_string(how.status) + " to " + std::to_string(how.ppm) + " ppm for " +
       std::to_string(std::chrono::duration<double>(lasts).count()) + " s");
  for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) {
    if (!is_all && s != first) continue;
    kubernetes_.answers(s, how);
    stage_.in.after(lasts, [this, s] { kubernetes_.answers(s, {}); });
  }
}

void kubernetes_troubles::disturb_watches(world_time quiet) {
  const std::size_t server = dice_.below(modelled_cluster::most_servers);
  const core::duration lasts = for_long(quiet);
  switch (dice_.below(3)) {
    case 0:
      say_("the watches of server " + std::to_string(server) + " end");
      return kubernetes_.end_watches(server, dice_.chance(half));
    case 1:
      say_("others write");
      return kubernetes_.others_write(
          static_cast<std::uint64_t>(dice_.between(std::int64_t{1}, most_writes_of_others)));
    default:
      say_("the watches of server " + std::to_string(server) + " are late for " +
           std::to_string(std::chrono::duration<double>(lasts).count()) + " s");
      kubernetes_.lag_watches(server, dice_.spread(10ms, 2 * stage_.when.ttl));
      return stage_.in.after(lasts, [this, server] { kubernetes_.lag_watches(server, {}); });
  }
}

void kubernetes_troubles::mend() {
  is_mended_ = true;
  for (const auto& one : clients_) one->retire();
  for (std::size_t s = 0; s < modelled_cluster::most_servers; ++s) {
    kubernetes_.answers(s, {});
    kubernetes_.lag_watches(s, {});
  }
  // There may be no leader yet.
  constexpr core::duration until_led = 5s;
  if (has_nonsense_) stage_.in.after(until_led, [this] { clear_notes(); });
  // Where nobody may hold yet, nobody campaigns by a list that is being taken away.
  stage_.in.after(until_led + (has_nonsense_ ? 1s : 0s), [this] {
    for (const std::string& which : stage_.elections) {
      clear_preference(which);
      // Members with several slots leave a Lease alone that somebody else has left behind, a Go
      // program or an operator.
      kubernetes_.edit(which, [](json& lease) {
        const std::string holder = lease.value("spec", json::object()).value("holderIdentity", "");
        if (holder.starts_with("client-") || holder == nobodys_name) {
          lease["spec"]["holderIdentity"] = "";
        }
      });
    }
  });
}

void kubernetes_troubles::clear_notes() {
  for (const std::string& which : stage_.elections) {
    // Without a list, what the members are configured with counts again.
    stage_.referee.agreed(which, static_cast<std::uint32_t>(stage_.slots));
    for (const auto& [name, one] : std::map(kubernetes_.objects().all())) {
      if (!name.starts_with(which)) continue;
      kubernetes_.edit(name, [](json& lease) {
        if (!lease["metadata"].contains("annotations")) return;
        lease["metadata"]["annotations"].erase("tenure.dev/epoch");
        lease["metadata"]["annotations"].erase("tenure.dev/slots");
      });
    }
  }
}

}  // namespace tenure::shell
