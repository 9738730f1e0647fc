#include "stores/consul/shared_state.hpp"

#include <algorithm>
#include <utility>

#include "stores/consul/absences.hpp"
#include "stores/consul/layout.hpp"
#include "stores/consul/requests.hpp"

namespace tenure::stores::consul {
namespace {

/// An election has at most an acquire, a release and a read under way; renewals, looks of the
/// watches and sessions come on top.
constexpr std::size_t calls_per_election = 3;
constexpr std::size_t other_calls = 64;

session_wish wish_of(const setup& with) {
  return {.name = "tenure " + with.identity,
          .ttl = with.consul.without_ttl ? std::nullopt : std::optional(with.ttl),
          .lock_delay = with.consul.lock_delay,
          .then = with.consul.behavior == settings::session_behavior::remove ? behavior::remove
                                                                             : behavior::release,
          .node_checks = with.consul.node_checks,
          .service_checks = with.consul.service_checks};
}

std::vector<mirror> mirrors_of(const std::vector<settings::election>& elections,
                               const own_run& self) {
  std::vector<mirror> out;
  out.reserve(elections.size());
  for (const settings::election& e : elections) out.emplace_back(e, self);
  return out;
}

}  // namespace

shared_state::shared_state(base::event_loop& where, const http::http_connector& connect, setup what,
                           const std::vector<settings::endpoint>& servers, watcher::handlers on)
    : loop(where),
      with(std::move(what)),
      self{.mark = mark_of(with.session), .identity = with.identity, .sessions = {}},
      agents(loop, connect, servers, with.secure, with.consul, with.name_space,
             with.elections.size() * calls_per_election + other_calls,
             folders_of(with.elections).size(), with.hears, with.sent),
      sessions(loop, agents, wish_of(with), with.ttl, self.sessions),
      place_sessions(loop, agents, wish_of(with), with.ttl, self.sessions),
      mirrors(mirrors_of(with.elections, self)),
      watches(loop, agents, mirrors, folders_of(with.elections),
              with.ttl / core::store_looks_per_ttl, std::move(on)),
      held_(with.elections.size()) {}

void shared_state::close() {
  if (!alive_) return;
  alive_.reset();
  sessions.close();
  place_sessions.close();
  watches.close();
  agents.close();
}

void shared_state::read(core::election_index which, core::time_point deadline, read_handler then) {
  const std::uint64_t known = seen(which).index();
  agents.call(read_request(prefix_of(spec(which).name)), deadline,
              guarded([this, which, known, deadline,
                       then = std::move(then)](const reply_or_failure& what) mutable {
                if (!what) return then(std::unexpected(unknown{what.error().why}));
                auto keys = keys_in(*what, seen(which).prefix());
                if (!keys) return then(std::unexpected(broken_reply(keys.error())));
                auto vanished = seen(which).vanished(*keys, what->index);
                auto show = [this, which, known, keys = std::move(*keys), index = what->index,
                             sent_at = what->sent_at, then = std::move(then)](
                                const std::expected<void, call_failure>& gone) mutable {
                  if (!gone) return then(std::unexpected(unknown{gone.error().why}));
                  looked out{.at = seen(which), .sent_at = sent_at};
                  // A watch that is not broken, and this read, which is of a later state.
                  if (watches.live(which) && index >= known) {
                    out.at.follow(keys, index);
                  } else {
                    out.at.replace(keys, index);
                  }
                  then(std::move(out));
                };
                if (vanished.empty()) return show({});
                confirm_absent(agents, std::move(vanished), deadline, guarded(std::move(show)));
              }));
}

void shared_state::transact(const std::vector<operation>& what, core::time_point deadline,
                            transaction_handler then, priority as) {
  agents.call(agents.transaction(what), deadline,
              guarded([this, what, then = std::move(then)](const reply_or_failure& reply) mutable {
                if (!reply) return then(std::unexpected(unknown{reply.error().why}));
                if (reply->status == 404) {
                  return then(std::unexpected(unknown{
                      agents.present() + " has no /v1/txn: is it the HTTP address of Consul?"}));
                }
                auto parsed = parse_transaction(static_cast<int>(reply->status), reply->body);
                if (!parsed) return then(std::unexpected(broken_reply(parsed.error())));
                if (const std::string why = contradiction(what, *parsed); !why.empty()) {
                  return then(std::unexpected(
                      broken_reply({"a transaction was answered wrongly: " + why})));
                }
                then(transacted{std::move(*parsed), reply->sent_at});
              }),
              as);
}

held_term& shared_state::hold(core::election_index which, const slot_holder& own) {
  self.sessions.insert(own.session);
  // Also one that was not sure any more when it became a term: it ends with that.
  place_sessions.give_away(own.session);
  auto& held = held_[core::place(which)];
  if (!held || held->version != own.version || held->session != own.session) {
    held.emplace();
    held->version = own.version;
    held->sequencer = sequencer_of(own);
    held->slot = own.slot;
  }
  held->key = own.key;
  held->session = own.session;
  held->index = own.index;
  held->lock_index = own.lock_index;
  held->text = text_of(own);
  held->lock_delay = sessions.lock_delay_of(own.session);
  held->is_session_gone = false;
  mirrors[core::place(which)].expect(own.key, own.index);
  return *held;
}

bool shared_state::holds_nothing() const {
  for (std::uint32_t i = 0; i < held_.size(); ++i) {
    if (may_hold(core::election_index{i})) return false;
  }
  return true;
}

/// False also if the term is over by Consul's word: its session is gone, or a later state of the
/// election than the one that we have left does not show it.
bool shared_state::may_hold(core::election_index which) const {
  const auto& held = held_[core::place(which)];
  if (!held || held->is_session_gone) return false;
  const mirror& m = seen(which);
  if (!watches.live(which) || m.index() < held->index) return true;
  const slot_holder* const own = m.find_own();
  return own != nullptr && own->version == held->version;
}

std::optional<kept_session> shared_state::take_from_places(std::string_view id) {
  if (!of_places || of_places->id != id) return {};
  place_sessions.give_away(id);
  return std::exchange(of_places, std::nullopt);
}

void shared_state::session_is_gone(std::string_view id) {
  for (auto& one : held_) {
    if (one && one->session == id) one->is_session_gone = true;
  }
}

unknown shared_state::broken_reply(const malformed& what) const {
  return {agents.present() + ": " + what.why};
}

}  // namespace tenure::stores::consul
