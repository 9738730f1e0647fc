#include "stores/kubernetes/shared_state.hpp"

#include <algorithm>

#include "base/percent_text.hpp"
#include "base/printable_text.hpp"
#include "stores/kubernetes/layout.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// An election has at most an acquire, a release, a renewal and a read under way; looks of the
/// watches and members come on top.
constexpr std::size_t calls_per_election = 6;
constexpr std::size_t other_calls = 64;

std::vector<mirror> mirrors_of(const setup& with, const own_run& self) {
  std::vector<mirror> out;
  out.reserve(with.elections.size());
  for (const settings::election& e : with.elections) out.emplace_back(e, self, with.ttl);
  return out;
}

}  // namespace

struct shared_state::reading {
  core::time_point deadline{};
  read_handler then;
  std::size_t left = 2;
};

shared_state::shared_state(base::event_loop& where, const http::http_connector& connect, setup what,
                           const std::vector<settings::endpoint>& endpoints, watcher::handlers on)
    : loop(where),
      with(std::move(what)),
      self{.mark = mark_of(with.session),
           .identity = base::printable(with.identity),
           .name_space = with.name_space.empty() ? "default" : with.name_space},
      path("/apis/coordination.k8s.io/v1/namespaces/" + self.name_space + "/leases"),
      servers(loop, connect, endpoints, with.secure,
              with.elections.size() * calls_per_election + other_calls, with.hears, with.sent),
      mirrors(mirrors_of(with, self)),
      watches(loop, servers, mirrors, path, scopes_of(with.elections), with.ttl, on),
      ttl_s_(std::chrono::ceil<std::chrono::seconds>(with.ttl).count()),
      changed_(on.changed),
      held_(with.elections.size()) {}

void shared_state::close() {
  if (!alive_) return;
  alive_.reset();
  watches.close();
  servers.close();
}

std::string shared_state::signature() const {
  return signature_text({.identity = self.identity, .mark = self.mark});
}

void shared_state::learned(core::election_index which) {
  loop.post(guarded([this, which] { changed_(which); }));
}

// Reading --------------------------------------------------------------------------------------

void shared_state::read(core::election_index which, core::time_point deadline, read_handler then) {
  const auto all = std::make_shared<reading>();
  all->deadline = deadline;
  all->then = std::move(then);
  list(which, part::first, all);
  list(which, part::others, all);
}

void shared_state::list(core::election_index which, part its, const std::shared_ptr<reading>& all) {
  const std::string& name = spec(which).name;
  const std::string selector =
      its == part::first
          ? "fieldSelector=metadata.name%3D" + name
          : "labelSelector=" + base::percent_encoded(std::string(election_label) + "=" + name);
  servers.call({.path = path, .query = selector}, all->deadline,
               guarded([this, which, its, all](const reply_or_failure& what) {
                 if (all->left == 0) return;
                 const auto fail = [&](std::string why) {
                   all->left = 0;
                   all->then(std::unexpected(unknown{std::move(why)}));
                 };
                 if (!what) return fail(what.error().why);
                 const auto listed = parse_list(what->body);
                 if (!listed) return fail(broken_reply(listed.error()).why);
                 const bool missed = !watches.live(which, its);
                 seen(which).take_all(its, listed->items, listed->resource_version, loop.now(),
                                      what->date_ms, missed);
                 if (--all->left > 0) return;
                 learned(which);
                 all->then({});
               }));
}

void shared_state::fetch(
    core::election_index which, const std::string& name, core::time_point deadline,
    std::move_only_function<void(std::expected<std::optional<lease_object>, call_failure>)> then,
    priority as) {
  servers.call(
      {.path = path + "/" + name}, deadline,
      guarded([this, which, name, then = std::move(then)](const reply_or_failure& what) mutable {
        if (!what && what.error().meaning == error_meaning::missing) {
          seen(which).take_missing(name);
          return then(std::optional<lease_object>());
        }
        if (!what) return then(std::unexpected(what.error()));
        auto lease = parse_lease(what->body, name);
        if (!lease) {
          return then(std::unexpected(call_failure{.why = broken_reply(lease.error()).why}));
        }
        seen(which).take_fetched(*lease, loop.now());
        learned(which);
        then(std::optional(std::move(*lease)));
      }),
      as);
}

/// What tells a Lease of an election from those of others; the first one has its name.
annotations shared_state::labels_of(core::election_index which, const std::string& name) const {
  if (name == spec(which).name) return {};
  return {{std::string(election_label), spec(which).name}};
}

// Writing --------------------------------------------------------------------------------------

void shared_state::write(core::election_index which, const std::string& name,
                         const lease_object* before, const spec_change& its,
                         const note_change& notes, core::time_point deadline, write_handler then) {
  if (before == nullptr) return create(which, name, its, notes, deadline, std::move(then));
  change(which, *before, its, notes, deadline, std::move(then));
}

void shared_state::create(core::election_index which, const std::string& name,
                          const spec_change& its, const note_change& notes,
                          core::time_point deadline, write_handler then) {
  annotations labels = labels_of(which, name);
  servers.call({.method = "POST", .path = path, .body = creation(name, labels, its, notes)},
               deadline,
               guarded([this, which, name, labels, its, notes,
                        then = std::move(then)](const reply_or_failure& what) mutable {
                 wrote(which, name, what, std::move(then), [&](const lease_object& shown) {
                   return is_result(shown, nullptr, labels, its, notes);
                 });
               }));
}

void shared_state::change(core::election_index which, const lease_object& before,
                          const spec_change& its, const note_change& notes,
                          core::time_point deadline, write_handler then, priority as) {
  annotations labels = labels_of(which, before.name);
  servers.call({.method = "PATCH",
                .path = path + "/" + before.name,
                .body = patch(before, labels, its, notes),
                .content_type = "application/json-patch+json"},
               deadline,
               guarded([this, which, before, labels, its, notes,
                        then = std::move(then)](const reply_or_failure& what) mutable {
                 wrote(which, before.name, what, std::move(then), [&](const lease_object& shown) {
                   return is_result(shown, &before, labels, its, notes);
                 });
               }),
               as);
}

void shared_state::wrote(core::election_index which, const std::string& name,
                         const reply_or_failure& what, write_handler then,
                         const std::function<bool(const lease_object&)>& is_expected) {
  if (!what) return then(std::unexpected(what.error()));
  auto lease = parse_lease(what->body, name);
  if (!lease) return then(std::unexpected(call_failure{.why = broken_reply(lease.error()).why}));
  if (!is_expected(*lease)) {
    return then(std::unexpected(
        call_failure{.why = servers.present() + " shows another Lease than was written: " + name}));
  }
  seen(which).take(*lease, loop.now());
  learned(which);
  then(written_lease{.lease = std::move(*lease), .sent_at = what->sent_at});
}

void shared_state::remove(const lease_object& before, core::time_point deadline,
                          cluster::done_handler then) {
  servers.call(
      {.method = "DELETE", .path = path + "/" + before.name, .body = deletion(before)}, deadline,
      guarded([this, name = before.name, then = std::move(then)](reply_or_failure what) mutable {
        if (what && !is_deletion(what->body, name)) {
          what = std::unexpected(
              call_failure{.why = servers.present() + " does not say that it has deleted " + name});
        }
        then(std::move(what));
      }));
}

// Terms ----------------------------------------------------------------------------------------

held_term& shared_state::hold(core::election_index which, std::uint32_t slot, core::version version,
                              const lease_object& lease) {
  auto& its = held_[core::place(which)];
  const std::string sequencer = sequencer_of(self.name_space, lease, version);
  // A restored store gives versions again.
  if (!its || its->sequencer != sequencer) {
    its.emplace();
    its->version = version;
    its->sequencer = sequencer;
    its->uid = lease.uid;
    its->slot = slot;
  }
  seen(which).count_on(mirror::counted_term{.slot = slot, .duration_s = ttl_s_});
  seen(which).find_again(version);
  return *its;
}

void shared_state::let_go(core::election_index which) {
  held_[core::place(which)].reset();
  seen(which).count_on(std::nullopt);
}

void shared_state::let_go_of_lost(core::election_index which) {
  const auto& its = held(which);
  if (its && seen(which).has_lost(its->version)) let_go(which);
}

void shared_state::note_shown(core::election_index which, const core::observation& shown) {
  const auto& its = held(which);
  if (!its || shown.as_of < its->version) return;
  const bool is_there = std::ranges::any_of(shown.holders, [&](const core::holder& one) {
    return one.ours && one.version == its->version;
  });
  if (!is_there) seen(which).lose(its->version);
}

unknown shared_state::stale_reply(const std::string& name) const {
  return {
      servers.present() + " shows the Lease " + name +
      " again and again as no write finds it; if etcd was restored from a backup, start the API "
      "servers again"};
}

unknown shared_state::broken_reply(const malformed& what) const {
  return {servers.present() + ": " + what.why};
}

}  // namespace tenure::stores::kubernetes
