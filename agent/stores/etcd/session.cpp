#include "stores/etcd/session.hpp"

#include <array>
#include <bit>

#include "base/base64.hpp"
#include "http/tls/tls_signature.hpp"

namespace tenure::stores::etcd {
namespace {

/// An election has at most an acquire, a release and a read under way; renewals, the watcher's
/// reads and leases come on top.
constexpr std::size_t calls_per_election = 3;
constexpr std::size_t other_calls = 64;

std::vector<key_range> ranges_of(const std::vector<settings::election>& elections) {
  std::vector<key_range> out;
  for (const settings::election& e : elections) out.push_back(range_of(e.name));
  return out;
}

std::vector<mirror> mirrors_of(const std::vector<settings::election>& elections,
                               const own_run& self) {
  std::vector<mirror> out;
  out.reserve(elections.size());
  for (const settings::election& e : elections) out.emplace_back(e, self);
  return out;
}

}  // namespace

session::session(base::event_loop& where, const http::http_connector& connect, setup what,
                 const std::vector<settings::endpoint>& servers, watcher::handlers on)
    : loop(where),
      with(std::move(what)),
      ranges(ranges_of(with.elections)),
      self{.ids = lease_ids(with.session, loop.random_bits()), .identity = with.identity},
      // The watch goes to the endpoint that answers calls: one that confirms renewals is in touch
      // with the leader, so its events are up to date.
      endpoints(
          loop, connect, servers, with.secure,
          with.elections.size() * calls_per_election + other_calls,
          [this] {
            loop.post(guarded([this] {
              if (connection.live()) connection.connect();
            }));
          },
          with.hears, with.sent),
      leases(loop, endpoints, self.ids, with.ttl),
      mirrors(mirrors_of(with.elections, self)),
      connection(loop, endpoints, mirrors, ranges, with.ttl / core::store_looks_per_ttl,
                 std::move(on)),
      held_(with.elections.size()),
      sealed_(with.elections.size()) {
  doubted_until.resize(with.elections.size());
  released.resize(with.elections.size());
  given_back.resize(with.elections.size());
}

void session::close() {
  if (!alive_) return;
  alive_.reset();
  leases.close();
  connection.close();
  endpoints.close();
}

void session::read(core::election_index which, core::time_point deadline, read_handler then) {
  const auto range = std::span(ranges).subspan(core::place(which), 1);
  endpoints.call(
      transaction_path, transaction_request(read_transaction(range)), deadline,
      guarded([this, which, then = std::move(then)](const reply_or_failure& what) mutable {
        if (!what) return then(std::unexpected(unknown{what.error().why}));
        auto found = reads_in(what->body, 1);
        if (!found) return then(std::unexpected(broken_reply(found.error())));
        then(looked{.at = as_read(which, found->values.front(), found->header.revision),
                    .sent_at = what->sent_at,
                    .by = {.raft_term = found->header.raft_term, .endpoint = what->endpoint}});
      }));
}

mirror session::as_read(core::election_index which, std::span<const key_value> values,
                        std::uint64_t revision) const {
  mirror now(spec(which), self);
  if (trusts_word(which)) now.know(seen(which).passed());
  now.replace(values, revision);
  return now;
}

bool session::trusts_word(core::election_index which) const {
  const auto& term = held_[core::place(which)];
  return connection.live() || (term && core::number(term->version) == seen(which).passed().ours);
}

void session::watch_had_gap() {
  for (std::uint32_t i = 0; i < mirrors.size(); ++i) {
    doubted_until[i] = mirrors[i].revision();
    const auto& term = held_[i];
    if (!term || core::number(term->version) != mirrors[i].passed().ours) mirrors[i].know({});
  }
  of_places.reset();
}

std::string session::new_seal(core::election_index which, std::int64_t lease) {
  if (!with.tell) return {};
  std::string secret;
  while (secret.size() < http::ed25519::seed_bytes) {
    const auto bytes = std::bit_cast<std::array<char, sizeof(std::uint64_t)>>(loop.random_bits());
    secret.append(bytes.data(), bytes.size());
  }
  const std::string seal = http::ed25519::public_key(secret);
  if (seal.empty()) return {};
  sealed_[core::place(which)] = {.lease = lease, .secret = std::move(secret)};
  return base::to_base64(seal);
}

const std::string* session::secret(core::election_index which, std::int64_t lease) const {
  const sealed_key& last = sealed_[core::place(which)];
  return last.secret.empty() || last.lease != lease ? nullptr : &last.secret;
}

std::vector<std::string> session::seals(core::election_index which, std::int64_t lease) const {
  if (secret(which, lease) == nullptr) return {};
  return {seal_key(spec(which).name, lease)};
}

std::expected<void, unknown> session::believe(const kept_lease& lease, const quorum_view& look) {
  if (!lease.raft_term || *lease.raft_term >= look.raft_term) return {};
  leases.doubt(lease.id);
  endpoints.prefer(look.endpoint);
  return std::unexpected(unknown{"the lease was renewed by an endpoint in raft term " +
                                 std::to_string(*lease.raft_term) + ", and " + endpoints.present() +
                                 " is in raft term " + std::to_string(look.raft_term) +
                                 ": the new leader may not have heard of it"});
}

unknown session::broken_reply(const malformed& what) const {
  return {endpoints.present() + ": " + what.why};
}

}  // namespace tenure::stores::etcd
