#include "stores/etcd/words.hpp"

#include <algorithm>
#include <cstdint>

#include "base/base64.hpp"
#include "http/tls/tls_signature.hpp"

namespace tenure::stores::etcd {

words::words(session& of, const line& places)
    : session_(of), line_(places), releases_(of.with.elections.size()) {}

core::version words::tell(core::election_index which, const held_term& own,
                          const release_details& how) {
  release& last = releases_[core::place(which)];
  if (last.of != own.version) last = {.of = own.version, .told = tell_next(which, own, how)};
  return last.told;
}

core::version words::tell_next(core::election_index which, const held_term& own,
                               const release_details& how) {
  const mirror& m = session_.seen(which);
  const std::string* secret = session_.secret(which, own.lease);
  const auto all = m.contenders();
  const bool is_clear = how.clean && secret != nullptr && session_.connection.live() &&
                        session_.spec(which).slots == 1 && m.agrees() && all.size() > 1 &&
                        all[0].key == own.key &&
                        all[0].create_revision == core::number(own.version) && !all[1].ours;
  if (!is_clear || (!how.heir.empty() && how.heir != all[1].identity)) return core::no_version;
  const std::string to = m.peer_of(all[1].identity);
  if (to.empty()) return core::no_version;
  core::word what{.election = session_.spec(which).name,
                  .ended = own.version,
                  .told = core::version{all[1].create_revision}};
  what.signature = http::ed25519::sign(*secret, core::statement(what));
  if (what.signature.empty()) return core::no_version;
  session_.with.tell(to, what);
  return what.told;
}

std::optional<core::election_index> words::hear(const core::word& what) {
  const auto& elections = session_.with.elections;
  const auto named = std::ranges::find(elections, what.election, &settings::election::name);
  if (named == elections.end() || session_.closed()) return {};
  const core::election_index which{static_cast<std::uint32_t>(named - elections.begin())};
  mirror& m = session_.mirrors[core::place(which)];
  const auto all = m.contenders();
  const bool is_next = named->slots == 1 && m.agrees() && all.size() > 1 &&
                       all[0].create_revision == core::number(what.ended) && !all[0].ours &&
                       m.holds(all[0]) && all[1].ours &&
                       all[1].create_revision == core::number(what.told) &&
                       line_.is_firm(which, all[1]);
  if (!is_next) return {};
  const std::string* seal = m.seal_of(all[0]);
  const auto key = seal != nullptr ? base::from_base64(*seal) : std::nullopt;
  if (!key || !http::ed25519::is_signed(*key, core::statement(what), what.signature)) return {};
  m.passed_on();
  return which;
}

}  // namespace tenure::stores::etcd
