#include "stores/etcd/words.hpp"

#include <algorithm>
#include <cstdint>

#include "base/base64.hpp"
#include "http/tls/tls_signature.hpp"

namespace tenure::stores::etcd {

words::words(session& of, const line& places)
    : session_(of),
      line_(places),
      releases_(of.with.elections.size()),
      signed_(of.with.elections.size()) {}

void words::changed(core::election_index which) {
  const auto& held = session_.held(which);
  if (!held) return;
  auto next = letter_for_next(which, *held);
  if (next) sign(which, *held, next->what);
}

core::version words::tell(core::election_index which, const held_term& own,
                          const release_details& how) {
  release& last = releases_[core::place(which)];
  if (last.of != own.version) last = {.of = own.version, .told = tell_next(which, own, how)};
  return last.told;
}

std::optional<words::letter> words::letter_for_next(core::election_index which,
                                                    const held_term& own) const {
  const mirror& m = session_.seen(which);
  const auto all = m.contenders();
  const bool is_clear = session_.secret(which, own.lease) != nullptr &&
                        session_.connection.live() && session_.spec(which).slots == 1 &&
                        m.agrees() && all.size() > 1 && all[0].key == own.key &&
                        all[0].create_revision == core::number(own.version) && !all[1].ours;
  if (!is_clear) return {};
  letter out{.what = {.election = session_.spec(which).name,
                      .ended = own.version,
                      .told = core::version{all[1].create_revision}},
             .identity = all[1].identity,
             .address = m.peer_of(all[1].identity)};
  if (out.address.empty()) return {};
  return out;
}

void words::sign(core::election_index which, const held_term& own, core::word& what) {
  signed_word& last = signed_[core::place(which)];
  if (last.lease != own.lease || last.what.ended != what.ended || last.what.told != what.told) {
    last = {.lease = own.lease, .what = what};
    last.what.signature =
        http::ed25519::sign(*session_.secret(which, own.lease), core::statement(what));
  }
  what.signature = last.what.signature;
}

core::version words::tell_next(core::election_index which, const held_term& own,
                               const release_details& how) {
  auto next = how.clean ? letter_for_next(which, own) : std::nullopt;
  if (!next || (!how.heir.empty() && how.heir != next->identity)) return core::no_version;
  sign(which, own, next->what);
  if (next->what.signature.empty()) return core::no_version;
  session_.with.tell(next->address, next->what);
  return next->what.told;
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
