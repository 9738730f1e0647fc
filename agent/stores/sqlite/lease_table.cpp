#include "stores/sqlite/lease_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/sometimes.hpp"
#include "core/vacancies.hpp"
#include "stores/free_slot.hpp"
#include "stores/sqlite/columns.hpp"
#include "stores/sqlite/lease_schema.hpp"

namespace tenure::stores::sqlite {
namespace {

/// Tells all watchers that a commit is visible, by changing the file's times.
///
/// Writes to the -wal file cannot serve for this: watchers see them before the commit is visible,
/// and no file is written afterwards. This must not open the file (see file_set::look). If it
/// fails, others see the change at the next commit or expiry.
void ring(const std::string& path) {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

}  // namespace

std::expected<std::unique_ptr<lease_table>, std::string> lease_table::open(const std::string& path,
                                                                           member self,
                                                                           membership& beside,
                                                                           patience waiting) {
  const file_set before = file_set::look(path);
  auto db = connection::open(path, waiting);
  if (!db) return std::unexpected("cannot open " + path + ": " + db.error());
  if (auto shaped = set_up(**db); !shaped) {
    return std::unexpected("cannot use " + path + ": " + shaped.error());
  }
  std::unique_ptr<lease_table> table(
      new lease_table(path, std::move(self), beside, std::move(*db)));
  table->prepare_statements();
  table->settle_history(waiting);
  if (table->db_->failed()) {
    return std::unexpected("cannot use " + path + ": " + table->db_->failure());
  }
  if (!table->files_.complete() || !table->files_.same_database(before)) {
    return std::unexpected("cannot use " + path +
                           ": it was replaced or deleted while it was opened; try again");
  }
  return table;
}

lease_table::lease_table(std::string path, member self, membership& beside,
                         std::unique_ptr<connection> db)
    : path_(std::move(path)), self_(std::move(self)), beside_(beside), db_(std::move(db)) {
  cluster_id_ = db_->text("SELECT id FROM cluster");
  files_ = file_set::look(path_);
}

lease_table::~lease_table() {
  // Nothing of a replaced file may end up in the file that has its name now.
  if (replaced_ || !files_.in_place()) db_->abandon();
}

void lease_table::prepare_statements() {
  select_live_ =
      statement(*db_,
                "SELECT session, identity, version, expires_ns, clean, slot FROM lease "
                "WHERE election = ? AND boot_id = ? AND expires_ns > ? ORDER BY version");
  select_counters_ = statement(*db_, "SELECT version, held FROM election WHERE name = ?");
  delete_dead_ = statement(
      *db_,
      "DELETE FROM lease WHERE election = ? AND (session = ? OR boot_id <> ? OR expires_ns <= ?)");
  insert_lease_ = statement(
      *db_,
      "INSERT INTO lease (election, session, identity, version, clean, acquired_ns, renewed_ns, "
      "expires_ns, ttl_ns, boot_id, slot) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9, ?10)");
  store_counters_ = statement(
      *db_,
      "INSERT INTO election (name, version, held) VALUES (?, ?, ?) "
      "ON CONFLICT (name) DO UPDATE SET version = excluded.version, held = excluded.held");
  extend_lease_ = statement(*db_,
                            "UPDATE lease SET renewed_ns = ?, expires_ns = ?, ttl_ns = ? "
                            "WHERE election = ? AND session = ? AND version = ? AND boot_id = ?");
  delete_term_ = statement(
      *db_, "DELETE FROM lease WHERE election = ?1 AND session = ?2 AND (?3 = 0 OR version = ?3)");
  count_release_ = statement(*db_, "UPDATE election SET held = max(held - 1, 0) WHERE name = ?");
  store_release_ = statement(
      *db_,
      "INSERT INTO farewell (election, version, holder, reason, heir, at_unix_ms) "
      "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (election) DO UPDATE SET version = excluded.version, "
      "holder = excluded.holder, reason = excluded.reason, heir = excluded.heir, "
      "at_unix_ms = excluded.at_unix_ms");
  select_release_ = statement(
      *db_, "SELECT version, holder, reason, heir, at_unix_ms FROM farewell WHERE election = ?");
  orders_.emplace(*db_, self_.boot_id);
  places_.emplace(*db_, self_.boot_id);
  select_agreement_ = statement(*db_, "SELECT slots FROM agreement WHERE election = ?");
  store_agreement_ = statement(*db_,
                               "INSERT INTO agreement (election, slots) VALUES (?, ?) "
                               "ON CONFLICT (election) DO UPDATE SET slots = excluded.slots");
  history_row_ = history_row(*db_);
}

/// Writes down what the members know of earlier files, unless this file says so already.
void lease_table::settle_history(patience waiting) {
  db_->wait(waiting);
  std::vector<member_page> members{beside_.own_page()};
  const std::vector<membership::entry> others = beside_.others();
  for (const membership::entry& one : others) members.push_back(one.page);
  // Usually nothing has to be written, and nobody is waited for.
  for (const access how : {access::read, access::write}) {
    begin(how);
    const auto said = history_row_.read();
    history_ = judge(
        said,
        {.file = identify(path_),
         .newest = version_of(db_->integer("SELECT coalesce(max(version), 0) FROM election", 0)),
         .boot_id = self_.boot_id,
         .now = self_.clock()},
        members);
    const bool settled = said == history_;
    if (!settled && how == access::write) history_row_.write(history_);
    db_->run("COMMIT");
    db_->roll_back();
    if (settled) break;
    if (how == access::write) ring(path_);
  }
  if (db_->failed()) return;
  beside_.mine().saw_commit(history_.file, history_.commits);
  // Not earlier: if the file cannot be written, the next member to open it needs what they know.
  beside_.forget_dead(others);
}

core::time_point lease_table::grants_from() const {
  return history_.boot_id == self_.boot_id ? history_.grants_from : core::time_point{};
}

// The operations -------------------------------------------------------------------------------

void lease_table::begin(access how) {
  if (how != access::read) db_->write_lazily(how == access::lazy_write);
  db_->run(how == access::read ? "BEGIN" : "BEGIN IMMEDIATE");
}

/// False if the file is ours, but the database in it is another one.
bool lease_table::check_history(access how) {
  const auto said = history_row_.read();
  if (db_->failed()) {
    TENURE_SOMETIMES(sqlite_history_cannot_be_read);
    return true;
  }
  const member_record& mine = beside_.mine().value();
  if (!said || said->file != mine.file || said->commits < mine.commits) return false;
  history_ = *said;
  if (how == access::read) return true;
  // What another member has committed may be gone, and our count would soon reach the same number.
  // That member cannot commit now, and its own file has all that it was granted.
  others_ = beside_.others();
  return std::ranges::none_of(others_, [&](const membership::entry& one) {
    return one.page.record.file == said->file && one.page.record.commits > said->commits;
  });
}

/// Runs `body` in one transaction. Nothing: it succeeded, in the files that the name leads to.
/// Otherwise the results of `body` are void.
template <class Body>
std::optional<unknown> lease_table::transact(access how, std::string_view what, patience waiting,
                                             Body body) {
  db_->clear_failure();
  db_->wait(waiting);
  seen_ = core::no_version;
  const std::int64_t changes_before = db_->changes();
  begin(how);
  // Inside the transaction, because the wait for the lock may have been long.
  replaced_ = replaced_ || !files_.in_place();
  if (replaced_) db_->fail("the file was replaced or deleted");
  if (!replaced_ && !check_history(how)) {
    replaced_ = true;
    db_->fail("an older copy was written over the file");
  }
  if (!db_->failed()) body();
  const bool changed = db_->changes() != changes_before;
  if (changed) {
    history_row_.count_commit();
    ++history_.commits;
  }
  db_->run("COMMIT");
  db_->roll_back();
  if (!db_->failed()) {
    beside_.mine().saw_commit(history_.file, history_.commits);
    beside_.mine().saw_version(seen_);
    if (!beside_.write())
      db_->fail("our file in " + members_directory(path_) + " cannot be written");
  }
  // And after the commit, which takes as long as the disk does. A member that has replaced the file
  // since then finds our promise in our file.
  replaced_ = replaced_ || !files_.in_place();
  if (replaced_) {
    db_->fail("the file was replaced or deleted meanwhile; it is opened again by itself");
  }
  if (changed) ring(path_);
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
    const auto own = std::ranges::find(live, self_.session, &row::session);
    if (own != live.end() && own->version >= above) {
      outcome = extend(what, *own, now);
      return;
    }
    if (own != live.end()) live.erase(own);
    // The number of slots is that of the first one to hold while nobody else does.
    const std::uint32_t agreed = agreed_slots(what);
    const bool may_count = agreed == 0 || agreed == what.slots || live.empty();
    if (!may_count || live.size() >= what.slots || now < grants_from()) {
      outcome = refusal{observe(what, live, places_->find(what.election), now)};
    } else {
      if (agreed != what.slots) store_agreement_.run(what.election, std::int64_t{what.slots});
      outcome = take(what, above, live, now);
    }
  });
  if (failure) return std::move(*failure);
  if (auto* granted = std::get_if<grant>(&outcome)) granted->sent_at = sent_at;
  return outcome;
}

/// A repeated request, as the first answer was lost. Version and start of the term stay the same.
grant lease_table::extend(const subject& what, const row& own, core::time_point now) {
  extend_lease_.run(column(now), column(now + self_.ttl), self_.ttl.count(), what.election,
                    self_.session, column(own.version), self_.boot_id);
  row extended = own;
  extended.expires_at = now + self_.ttl;
  return grant_of(what, extended);
}

grant lease_table::take(const subject& what, core::version above, std::span<const row> holders,
                        core::time_point now) {
  return grant_of(what,
                  give({self_.session, self_.identity, self_.ttl}, what, above, holders, now));
}

lease_table::row lease_table::give(const taker& to, const subject& what, core::version above,
                                   std::span<const row> holders, core::time_point now) {
  const counters before = count(what);
  const core::version version =
      to.version != core::no_version ? to.version : next_version(before, above);
  const core::version known = std::max(above, history_.floor);
  const auto live = static_cast<std::uint32_t>(holders.size());
  const std::uint32_t free = what.slots - live;
  const auto unreleased = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(before.held - std::int64_t{live}, 0, std::int64_t{free}));
  core::vacancies doubt(before.newest < known ? free : unreleased);
  const bool clean = doubt.taken();
  const std::uint32_t slot = free_slot(holders, &row::slot);

  delete_dead_.run(what.election, to.session, self_.boot_id, column(now));
  insert_lease_.run(what.election, to.session, to.identity, column(version), std::int64_t{clean},
                    column(now), column(now + to.ttl), to.ttl.count(), self_.boot_id,
                    std::int64_t{slot});
  store_counters_.run(what.election, column(std::max(version, before.newest)),
                      std::int64_t{live} + 1 + doubt.doubtful());
  saw_version(version);
  return row{.session = std::string(to.session),
             .identity = std::string(to.identity),
             .version = version,
             .expires_at = now + to.ttl,
             .clean = clean,
             .slot = slot};
}

/// Larger than all that were granted or set aside, and than `above`.
core::version lease_table::next_version(const counters& before, core::version above) {
  const core::version reached = std::max({before.newest, above, history_.floor});
  if (reached < largest_version) return core::version{core::number(reached) + 1};
  db_->fail("version " + std::to_string(core::number(reached)) +
            " is the last there is; stop all agents and start a new election");
  return core::no_version;
}

renew_outcome lease_table::renew(std::span<const held_term> terms, patience waiting) {
  renewal outcome{.sent_at = self_.clock(), .ttl = self_.ttl, .lost = {}};
  auto failure = transact(access::write, "renew leases", waiting, [&] {
    const core::time_point now = self_.clock();
    for (const held_term& item : terms) {
      if (item.version > history_.floor && renew_one(item, now)) continue;
      const bool full =
          item.version > history_.floor && live_rows(item.of, now).size() >= slots_of(item.of);
      outcome.lost.push_back(
          {item.which, full ? core::loss_reason::taken_over : core::loss_reason::revoked});
    }
  });
  if (failure) return std::move(*failure);
  return outcome;
}

bool lease_table::renew_one(const held_term& item, core::time_point now) {
  const std::int64_t renewed =
      extend_lease_.run(column(now), column(now + self_.ttl), self_.ttl.count(), item.of.election,
                        self_.session, column(item.version), self_.boot_id);
  if (renewed == 1) beside_.mine().promised(item.of.election, now + self_.ttl);
  return renewed == 1;
}

release_outcome lease_table::release(const subject& what, core::version version,
                                     const release_details& how, patience waiting) {
  return end(what, version, how, waiting, [&] {
    if (how.clean) beside_.mine().released(what.election);
    return std::optional(leaver{.session = self_.session, .identity = self_.identity});
  });
}

release_outcome lease_table::end_term(const subject& what, const core::holder& whose,
                                      const release_details& how, patience waiting) {
  return end(what, whose.version, how, waiting, [&]() -> std::optional<leaver> {
    if (whose.sequencer != sequencer(what, whose.version)) return std::nullopt;
    const std::vector<row> live = live_rows(what, self_.clock());
    const auto its = std::ranges::find(live, whose.version, &row::version);
    if (its == live.end() || its->session == self_.session) return std::nullopt;
    return leaver{.session = its->session, .identity = its->identity};
  });
}

/// Ends the term of this version, or with `no_version` any term, of the member that `find` finds
/// within the transaction.
release_outcome lease_table::end(const subject& what, core::version version,
                                 const release_details& how, patience waiting,
                                 const std::function<std::optional<leaver>()>& find) {
  // That nobody holds any more need not outlast the machine: none of its members would. Only a
  // version has to be on the disk before anybody acts by it.
  const access with =
      needs_new_version(what, version, waiting) ? access::write : access::lazy_write;
  auto failure = transact(with, "release a lease", waiting, [&] {
    const auto by = find();
    if (!by || delete_term_.run(what.election, by->session, column(version)) == 0) return;
    if (how.clean) count_release_.run(what.election);
    if (version == core::no_version) return;
    store_release_.run(what.election, column(version), by->identity, core::name(how.why), how.heir,
                       how.at_unix_ms);
    pass_on(what, version, *by, how, self_.clock(), with);
  });
  if (failure) return std::move(*failure);
  return released{};
}

/// True if the version of this place may follow that of the term that ends: nothing was granted in
/// between, as there is one slot.
bool lease_table::is_set_aside(const place_table::place& next, core::version ended) const {
  return next.version > std::max(ended, history_.floor);
}

/// True if the release of this term may have to make a version. The transaction looks again.
bool lease_table::needs_new_version(const subject& what, core::version ended, patience waiting) {
  db_->clear_failure();
  db_->wait(waiting);
  const auto next = places_->find(what.election);
  return next && !is_set_aside(*next, ended);
}

/// Grants what was just released to the member in line, unless another one is to hold next. To a
/// member that is dead it is not granted: it would have to run out.
void lease_table::pass_on(const subject& what, core::version ended, const leaver& by,
                          const release_details& how, core::time_point now, access with) {
  const auto next = places_->find(what.election);
  const bool is_ready = next && is_set_aside(*next, ended);
  const bool may_pass = next && next->session != by.session && slots_of(what) == 1 &&
                        (is_ready || with == access::write) &&
                        (how.heir.empty() || how.heir == next->identity) &&
                        membership::is_listed(others_, next->identity, what.election) &&
                        now >= grants_from() && live_rows(what, now).empty();
  if (!may_pass) return;
  give({.session = next->session,
        .identity = next->identity,
        .ttl = next->ttl,
        .version = is_ready ? next->version : core::no_version},
       what, core::no_version, {}, now);
  places_->leave(what.election, next->session);
}

/// Makes a version that is granted to nobody yet. `no_version`: this file does not know who held,
/// which the next grant will find by its newest version.
core::version lease_table::set_aside(const subject& what) {
  const counters before = count(what);
  if (before.newest < history_.floor) return core::no_version;
  const core::version next = next_version(before, core::no_version);
  store_counters_.run(what.election, column(next), before.held);
  return next;
}

std::optional<unknown> lease_table::line_up(std::span<const subject> stand,
                                            std::span<const subject> leave, patience waiting) {
  return transact(access::write, "stand in line", waiting, [&] {
    const core::time_point now = self_.clock();
    for (const subject& one : leave) places_->leave(one.election, self_.session);
    for (const subject& one : stand) {
      if (!may_stand(one, agreed_slots(one), live_rows(one, now))) continue;
      places_->take(one.election, {.session = self_.session,
                                   .identity = self_.identity,
                                   .ttl = self_.ttl,
                                   .version = set_aside(one)});
    }
  });
}

std::expected<std::vector<looked>, unknown> lease_table::read(std::span<const subject> what,
                                                              patience waiting) {
  std::vector<looked> out;
  out.reserve(what.size());
  auto failure = transact(access::read, "read leases", waiting, [&] {
    const core::time_point now = self_.clock();
    for (const subject& one : what) {
      const std::vector<row> live = live_rows(one, now);
      const auto next = places_->find(one.election);
      out.push_back({.seen = observe(one, live, next, now), .own = own_term(one, live)});
      look_at_place(one, live, next, out.back());
    }
    for (order_table::entry& order : orders_->live(now)) {
      const auto of = std::ranges::find(what, order.election, &subject::election);
      if (of == what.end()) continue;
      out[static_cast<std::size_t>(of - what.begin())].seen.orders.push_back(std::move(order.what));
    }
  });
  if (failure) return std::unexpected(std::move(*failure));
  return out;
}

order_outcome lease_table::leave_order(const subject& what, const core::left_order& order,
                                       patience waiting) {
  order_written outcome;
  auto failure = transact(access::write, "leave an order", waiting, [&] {
    const core::time_point now = self_.clock();
    outcome.done = orders_->leave(what.election, order, now, now + order_stays);
  });
  if (failure) return std::move(*failure);
  return outcome;
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
                          [&] { outcome = orders_->drop(what.election, id); });
  if (failure) return std::move(*failure);
  return outcome;
}

}  // namespace tenure::stores::sqlite
