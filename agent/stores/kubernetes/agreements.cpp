#include "stores/kubernetes/agreements.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "stores/kubernetes/layout.hpp"
#include "stores/records/agreement_text.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// How often one call reads and tries again because members came or went in between.
constexpr int most_looks = 6;

}  // namespace

void agreements::accept_versions(core::election_index which, core::time_point deadline,
                                 handler<agree_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->deadline = deadline;
  a->done = std::move(done);
  look(a);
}

void agreements::look(const attempt_ptr& a) {
  if (++a->tries > most_looks) {
    return finish(a, unknown{"members came or went again and again in election \"" +
                             shared_.spec(a->which).name + "\" at " + shared_.servers.present()});
  }
  shared_.read(a->which, a->deadline, [this, a](std::expected<void, unknown> read) {
    read ? judge(a) : finish(a, std::move(read.error()));
  });
}

void agreements::judge(const attempt_ptr& a) {
  const mirror& m = shared_.seen(a->which);
  const std::string& name = shared_.spec(a->which).name;
  core::agreement next = m.agreed();
  if (next.slots == 0) next.slots = shared_.spec(a->which).slots;
  next.versions_from = core::version{m.version() + 1};
  // Later than every acceptance seen so far, even if the wall clock is behind: this tells the new
  // acceptance from an earlier one that a restore may have removed.
  next.accepted_unix_ms =
      std::max({shared_.with.wall_ms(), next.accepted_unix_ms + 1, m.last_accepted_unix_ms() + 1});
  const lease_object* const first = m.lease(name);
  if (!a->last.moves_on_to(name, first)) return finish(a, shared_.stale_reply(name));
  shared_.write(a->which, name, first, {},
                {{std::string(agreement_annotation), agreement_text(next)}}, a->deadline,
                [this, a, next](const std::expected<written_lease, call_failure>& what) {
                  if (what) return finish(a, next);
                  const error_meaning why = what.error().meaning;
                  if (why != error_meaning::conflict && why != error_meaning::missing) {
                    return finish(a, unknown{what.error().why});
                  }
                  look(a);
                });
}

void agreements::finish(const attempt_ptr& a, agree_outcome outcome) {
  shared_.answer(std::move(a->done), std::move(outcome));
}

}  // namespace tenure::stores::kubernetes
