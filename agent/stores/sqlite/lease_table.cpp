#include "stores/sqlite/lease_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "stores/sqlite/lease_schema.hpp"

namespace tenure::stores::sqlite {
namespace {

/// SQLite's integers have a sign.
constexpr auto largest_version =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::int64_t column(core::version v) {
  return static_cast<std::int64_t>(core::number(v));
}
std::int64_t column(core::time_point t) {
  return t.time_since_epoch().count();
}
core::time_point instant(std::int64_t ns) {
  return core::time_point(core::duration(ns));
}
core::version version_of(std::int64_t number) {
  return core::version{static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0))};
}

/// Tells everybody who watches that a commit is visible, by a change of the file's times.
///
/// Writes to the -wal file would come too early for that: they are seen before the commit is,
/// and nothing is written to any file afterwards. The file must not be opened for it (see
/// file_set::look). If it fails, others learn of the change at the next commit or expiry.
void ring(const std::string& path) {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

}  // namespace

std::expected<std::unique_ptr<lease_table>, std::string> lease_table::open(const std::string& path,
                                                                           member self,
                                                                           patience waiting) {
  const file_set before = file_set::look(path);
  auto db = connection::open(path, waiting);
  if (!db) return std::unexpected("cannot open " + path + ": " + db.error());
  if (auto shaped = set_up(**db); !shaped) {
    return std::unexpected("cannot use " + path + ": " + shaped.error());
  }
  std::unique_ptr<lease_table> table(new lease_table(path, std::move(self), std::move(*db)));
  table->prepare_statements();
  if (table->db_->failed()) {
    return std::unexpected("cannot use " + path + ": " + table->db_->failure());
  }
  if (!table->files_.complete() || !table->files_.same_database(before)) {
    return std::unexpected("cannot use " + path +
                           ": it was replaced or deleted while it was opened; try again");
  }
  return table;
}

lease_table::lease_table(std::string path, member self, std::unique_ptr<connection> db)
    : path_(std::move(path)), self_(std::move(self)), db_(std::move(db)) {
  cluster_id_ = db_->text("SELECT id FROM cluster");
  files_ = file_set::look(path_);
}

lease_table::~lease_table() {
  // Nothing of a replaced file may end up in the one that has its name now.
  if (replaced_ || !files_.in_place()) db_->abandon();
}

void lease_table::prepare_statements() {
  select_live_ =
      statement(*db_,
                "SELECT session, identity, version, expires_ns, clean FROM lease "
                "WHERE election = ? AND boot_id = ? AND expires_ns > ? ORDER BY version");
  select_counters_ = statement(*db_, "SELECT version, held FROM election WHERE name = ?");
  delete_dead_ = statement(
      *db_,
      "DELETE FROM lease WHERE election = ? AND (session = ? OR boot_id <> ? OR expires_ns <= ?)");
  insert_lease_ = statement(
      *db_,
      "INSERT INTO lease (election, session, identity, version, clean, acquired_ns, renewed_ns, "
      "expires_ns, ttl_ns, boot_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9)");
  store_counters_ = statement(
      *db_,
      "INSERT INTO election (name, version, held) VALUES (?, ?, ?) "
      "ON CONFLICT (name) DO UPDATE SET version = excluded.version, held = excluded.held");
  extend_lease_ = statement(*db_,
                            "UPDATE lease SET renewed_ns = ?, expires_ns = ?, ttl_ns = ? "
                            "WHERE election = ? AND session = ? AND version = ? AND boot_id = ?");
  delete_own_ = statement(
      *db_, "DELETE FROM lease WHERE election = ?1 AND session = ?2 AND (?3 = 0 OR version = ?3)");
  count_release_ = statement(*db_, "UPDATE election SET held = max(held - 1, 0) WHERE name = ?");
  store_farewell_ = statement(
      *db_,
      "INSERT INTO farewell (election, version, holder, reason, heir, at_unix_ms) "
      "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (election) DO UPDATE SET version = excluded.version, "
      "holder = excluded.holder, reason = excluded.reason, heir = excluded.heir, "
      "at_unix_ms = excluded.at_unix_ms");
  select_farewell_ = statement(
      *db_, "SELECT version, holder, reason, heir, at_unix_ms FROM farewell WHERE election = ?");
  orders_.emplace(*db_, self_.boot_id);
}

// The operations -------------------------------------------------------------------------------

/// Runs `body` in one transaction. Nothing: it was carried out, on the files that the name leads
/// to. Otherwise what `body` has found out is void.
template <class Body>
std::optional<unknown> lease_table::transact(access how, std::string_view what, patience waiting,
                                             Body body) {
  db_->clear_failure();
  db_->wait(waiting);
  const std::int64_t changes_before = db_->changes();
  db_->run(how == access::write ? "BEGIN IMMEDIATE" : "BEGIN");
  // Within the transaction, as the wait for the lock may have been long.
  replaced_ = replaced_ || !files_.in_place();
  if (replaced_) db_->fail("the file was replaced or deleted");
  if (!db_->failed()) body();
  db_->run("COMMIT");
  db_->roll_back();
  // And after it: a commit takes as long as the disk does.
  replaced_ = replaced_ || !files_.in_place();
  if (replaced_) {
    db_->fail("the file was replaced or deleted meanwhile; it is opened again by itself");
  }
  if (db_->changes() != changes_before) ring(path_);
  if (!db_->failed()) return std::nullopt;
  return unknown{"cannot " + std::string(what) + " in " + path_ + ": " + db_->failure()};
}

acquire_outcome lease_table::acquire(const subject& what, core::version above, patience waiting) {
  const core::time_point sent_at = self_.clock();
  acquire_outcome outcome;
  auto failure = transact(access::write, "acquire a lease", waiting, [&] {
    // Read with the lock held: the row expires no earlier than sent_at + ttl.
    const core::time_point now = self_.clock();
    std::vector<row> live = live_rows(what, now);
    auto own = std::ranges::find(live, self_.session, &row::session);
    if (own != live.end() && own->term > what.floor && own->term >= above) {
      outcome = extend(what, *own, now);
      return;
    }
    if (own != live.end()) live.erase(own);
    if (live.size() >= what.slots) {
      outcome = refusal{observe(what, live)};
    } else {
      outcome = take(what, above, live.size(), now);
    }
  });
  if (failure) return std::move(*failure);
  if (auto* granted = std::get_if<grant>(&outcome)) granted->sent_at = sent_at;
  return outcome;
}

/// Asked again: the first answer was lost. The term is the same, and began as it began.
grant lease_table::extend(const subject& what, const row& own, core::time_point now) {
  extend_lease_.run(column(now), column(now + self_.ttl), self_.ttl.count(), what.election,
                    self_.session, column(own.term), self_.boot_id);
  return grant{.term = own.term,
               .sequencer = sequencer(what, own.term),
               .ttl = self_.ttl,
               .released_cleanly = own.clean};
}

grant lease_table::take(const subject& what, core::version above, std::size_t live,
                        core::time_point now) {
  const counters before = count(what);
  const core::version reached = std::max({before.newest, above, what.floor});
  if (core::number(reached) >= largest_version) {
    db_->fail("version " + std::to_string(core::number(reached)) +
              " is the last there is; stop all agents and start a new election");
    return {};
  }
  const core::version term{core::number(reached) + 1};
  const auto holders = static_cast<std::int64_t>(live);
  // A counter behind what was seen means that the file was swapped for an older one or a new one:
  // it does not know who held the lease last.
  const bool history_known = before.newest >= above && before.newest >= what.floor;
  const bool in_new_file = what.floor != core::no_version && before.newest <= what.floor;
  const bool clean = before.held == holders && history_known && !in_new_file;

  delete_dead_.run(what.election, self_.session, self_.boot_id, column(now));
  insert_lease_.run(what.election, self_.session, self_.identity, column(term), std::int64_t{clean},
                    column(now), column(now + self_.ttl), self_.ttl.count(), self_.boot_id);
  store_counters_.run(what.election, column(term), std::max(before.held, holders + 1));
  return grant{.term = term,
               .sequencer = sequencer(what, term),
               .ttl = self_.ttl,
               .released_cleanly = clean};
}

renew_outcome lease_table::renew(std::span<const held_term> terms, patience waiting) {
  renewal outcome{.sent_at = self_.clock(), .ttl = self_.ttl, .lost = {}};
  auto failure = transact(access::write, "renew leases", waiting, [&] {
    const core::time_point now = self_.clock();
    for (const held_term& item : terms) {
      if (item.term > item.of.floor && renew_one(item, now)) continue;
      const bool full =
          item.term > item.of.floor && live_rows(item.of, now).size() >= item.of.slots;
      outcome.lost.push_back(
          {item.which, full ? core::loss_reason::taken_over : core::loss_reason::revoked});
    }
  });
  if (failure) return std::move(*failure);
  return outcome;
}

bool lease_table::renew_one(const held_term& item, core::time_point now) {
  return extend_lease_.run(column(now), column(now + self_.ttl), self_.ttl.count(),
                           item.of.election, self_.session, column(item.term), self_.boot_id) == 1;
}

release_outcome lease_table::release(const subject& what, core::version term, const parting& how,
                                     patience waiting) {
  auto failure = transact(access::write, "release a lease", waiting, [&] {
    const std::int64_t deleted = delete_own_.run(what.election, self_.session, column(term));
    if (deleted == 0) return;
    if (how.clean) count_release_.run(what.election);
    if (term == core::no_version) return;
    store_farewell_.run(what.election, column(term), self_.identity, core::name(how.why), how.heir,
                        how.at_unix_ms);
  });
  if (failure) return std::move(*failure);
  return released{};
}

std::expected<std::vector<core::observation>, unknown> lease_table::read(
    std::span<const subject> what, patience waiting) {
  std::vector<core::observation> seen;
  seen.reserve(what.size());
  auto failure = transact(access::read, "read leases", waiting, [&] {
    const core::time_point now = self_.clock();
    for (const subject& one : what) seen.push_back(observe(one, live_rows(one, now)));
    for (order_table::entry& order : orders_->live(now)) {
      const auto of = std::ranges::find(what, order.election, &subject::election);
      if (of == what.end()) continue;
      seen[static_cast<std::size_t>(of - what.begin())].orders.push_back(std::move(order.what));
    }
  });
  if (failure) return std::unexpected(std::move(*failure));
  return seen;
}

order_outcome lease_table::leave_order(const subject& what, const core::left_order& order,
                                       patience waiting) {
  auto failure = transact(access::write, "leave an order", waiting, [&] {
    const core::time_point now = self_.clock();
    orders_->leave(what.election, order, now, now + order_lasts);
  });
  if (failure) return std::move(*failure);
  return order_written{};
}

order_outcome lease_table::answer_order(const subject& what, const std::string& id,
                                        const core::order_reply& reply, patience waiting) {
  order_written outcome;
  auto failure = transact(access::write, "answer an order", waiting, [&] {
    outcome.done = orders_->answer(what.election, id, reply, self_.clock());
  });
  if (failure) return std::move(*failure);
  return outcome;
}

order_outcome lease_table::drop_order(const subject& what, const std::string& id,
                                      patience waiting) {
  order_written outcome;
  auto failure = transact(access::write, "drop an order", waiting,
                          [&] { outcome.done = orders_->drop(what.election, id); });
  if (failure) return std::move(*failure);
  return outcome;
}

// Rows -----------------------------------------------------------------------------------------

std::vector<lease_table::row> lease_table::live_rows(const subject& what, core::time_point now) {
  std::vector<row> found;
  auto rows = select_live_.rows(what.election, self_.boot_id, column(now));
  while (rows.next()) {
    found.push_back({.session = rows.text(0),
                     .identity = rows.text(1),
                     .term = version_of(rows.integer(2)),
                     .expires_at = instant(rows.integer(3)),
                     .clean = rows.integer(4) != 0});
  }
  return found;
}

lease_table::counters lease_table::count(const subject& what) {
  auto rows = select_counters_.rows(what.election);
  if (!rows.next()) return {};
  return {.newest = version_of(rows.integer(0)), .held = rows.integer(1)};
}

std::optional<core::farewell> lease_table::farewell_of(const subject& what) {
  auto rows = select_farewell_.rows(what.election);
  if (!rows.next()) return std::nullopt;
  return core::farewell{
      .term = version_of(rows.integer(0)),
      .holder = rows.text(1),
      .why = core::loss_reason_named(rows.text(2)).value_or(core::loss_reason::none),
      .heir = rows.text(3),
      .at_unix_ms = rows.integer(4)};
}

core::observation lease_table::observe(const subject& what, std::span<const row> live) {
  core::observation seen;
  seen.as_of = std::max(count(what).newest, what.floor);
  seen.parting = farewell_of(what);
  for (const row& one : live) {
    seen.holders.push_back(
        {.identity = one.identity, .term = one.term, .ours = one.session == self_.session});
    seen.expires_at = std::min(seen.expires_at, one.expires_at);
  }
  // With a slot free there is nothing to wait for.
  if (live.size() >= what.slots) seen.retry_at = seen.expires_at;
  return seen;
}

std::string lease_table::sequencer(const subject& what, core::version term) const {
  return cluster_id_ + "/" + std::string(what.election) + "/" + std::to_string(core::number(term));
}

}  // namespace tenure::stores::sqlite
