#include "stores/consul/releases.hpp"

#include <algorithm>
#include <utility>

#include "stores/consul/requests.hpp"
#include "stores/records/release_record_text.hpp"

namespace tenure::stores::consul {
namespace {

/// How often one release tries again because others came or went in between. Each holder of a
/// semaphore writes the same key.
constexpr int most_releases = 20;

}  // namespace

void releases::release(core::election_index which, core::version version,
                       const release_details& how, core::time_point deadline,
                       handler<release_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->version = version;
  a->deadline = deadline;
  a->done = std::move(done);
  // A caller that names no term leaves no record.
  if (version != core::no_version) {
    a->how = how;
    a->is_passed_on = true;
  }
  const mirror& m = shared_.seen(which);
  const auto& held = shared_.held(which);
  const auto own = std::ranges::find_if(m.holders(), [&](const slot_holder& one) {
    return held && held->version == version && one.key == held->key && one.index == held->index;
  });
  // What the watch shows is mostly true, and the transaction says if it is not.
  if (own != m.holders().end()) return give_up(a, m, *own);
  look(a);
}

void releases::end_term(core::election_index which, const core::holder& whose,
                        const release_details& how, core::time_point deadline,
                        handler<release_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->version = whose.version;
  a->whose = whose;
  a->how = how;
  a->deadline = deadline;
  a->done = std::move(done);
  const mirror& m = shared_.seen(which);
  if (const slot_holder* its = find(*a, m)) return give_up(a, m, *its);
  look(a);
}

/// The term that is to end; null if it is over.
const slot_holder* releases::find(const attempt& a, const mirror& at) {
  if (a.whose) return at.find_term(*a.whose);
  const slot_holder* own = at.find_own();
  const bool is_meant =
      own != nullptr && (a.version == core::no_version || own->version == a.version);
  return is_meant ? own : nullptr;
}

/// The term may be over, or the reply that granted one may be lost: reads what Consul holds.
void releases::look(const attempt_ptr& a) {
  if (++a->tries > most_releases) {
    return finish(a, unknown{"others came or went again and again in election \"" +
                             shared_.spec(a->which).name + "\" at " + shared_.agents.present()});
  }
  shared_.read(a->which, a->deadline, [this, a](std::expected<looked, unknown> now) {
    if (!now) return finish(a, std::move(now.error()));
    const slot_holder* its = find(*a, now->at);
    its == nullptr ? finish(a, released{}) : give_up(a, now->at, *its);
  });
}

void releases::give_up(const attempt_ptr& a, const mirror& at, const slot_holder& its) {
  // Another program may have written over our name.
  const std::string& name = a->whose ? its.identity : shared_.self.identity;
  const std::string note = a->how ? release_record_text(a->version, name, *a->how) : "";
  const auto next = a->is_passed_on ? at.offer_of(a->how->heir) : std::nullopt;
  const auto what = release_transaction(shared_.spec(a->which).name, at.basis_now(), its.key,
                                        its.index, its.session, note, next);
  // A campaign may not take it for a place in line that has become a term.
  shared_.take_from_places(its.session);
  shared_.transact(
      what, a->deadline,
      [this, a, version = its.version](std::expected<transaction_reply, unknown> reply) {
        if (!reply) return finish(a, std::move(reply.error()));
        if (reply->failed.empty()) {
          auto& held = shared_.held(a->which);
          if (!a->whose && held && held->version == version) held.reset();
          return finish(a, released{});
        }
        const failed_operation& why = reply->failed.front();
        // The one that comes next has none any more.
        if (why.why == failure::no_session) a->is_passed_on = false;
        if (why.why == failure::other) {
          return finish(a, unknown{shared_.agents.present() + " refuses to release \"" +
                                   shared_.spec(a->which).name + "\": " + why.what});
        }
        look(a);
      });
}

void releases::finish(const attempt_ptr& a, release_outcome outcome) {
  shared_.answer(std::move(a->done), std::move(outcome));
}

}  // namespace tenure::stores::consul
