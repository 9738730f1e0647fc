#include "sqlite/lease_rows.hpp"

#include <algorithm>
#include <utility>

#include "stores/sqlite/columns.hpp"

namespace tenure::shell {

namespace sqlite = stores::sqlite;

lease_rows::lease_rows(world& in, store_witness& seen_by, std::string path, numbering numbers)
    : world_(in), witness_(seen_by), path_(std::move(path)), numbers_(std::move(numbers)) {}

/// Follows the name. False: there is no file with leases in it.
bool lease_rows::open() {
  if (db_ && files_.in_place()) return true;
  if (db_) db_->abandon();
  all_ = {};
  agreements_ = {};
  releases_ = {};
  db_.reset();
  if (sqlite::identify(path_) == sqlite::file_identity{}) return false;
  auto opened = sqlite::connection::open(path_, {});
  if (!opened) return false;
  // It must not be what deletes the -wal file of another database.
  (*opened)->keep_wal_file();
  (*opened)->abandon();
  const bool is_set_up =
      (*opened)->integer("SELECT count(*) FROM sqlite_schema WHERE name = 'place'", 0) == 1;
  files_ = sqlite::file_set::look(path_);
  if (!is_set_up || !files_.complete()) return false;
  db_ = std::move(*opened);
  all_ = sqlite::statement(*db_,
                           "SELECT election, session, version, acquired_ns, expires_ns, identity "
                           "FROM lease WHERE boot_id = ?");
  agreements_ = sqlite::statement(*db_, "SELECT election, slots FROM agreement");
  releases_ = sqlite::statement(*db_, "SELECT version FROM farewell WHERE election = ?");
  return true;
}

void lease_rows::read_agreements() {
  std::map<std::string, std::uint32_t> there;
  auto rows = agreements_.rows();
  while (rows.next()) there[rows.text(0)] = static_cast<std::uint32_t>(rows.integer(1));
  if (there == agreed_) return;
  for (const auto& [election, slots] : agreed_) {
    if (!there.contains(election)) witness_.agreed(election, 0);
  }
  for (const auto& [election, slots] : there) witness_.agreed(election, slots);
  agreed_ = std::move(there);
}

/// Rows of this boot, and until when they promise. False: they cannot be read now.
bool lease_rows::read(const machine_clock& clock, const std::string& boot_id,
                      std::map<name, seen_row>& out) {
  if (!open()) return false;
  db_->clear_failure();
  auto rows = all_.rows(boot_id);
  while (rows.next()) {
    out.emplace(
        name{.election = rows.text(0),
             .session = rows.text(1),
             .version = static_cast<std::uint64_t>(rows.integer(2)),
             .acquired_ns = rows.integer(3)},
        seen_row{.until = clock.world(sqlite::instant(rows.integer(4))), .identity = rows.text(5)});
  }
  read_agreements();
  return !db_->failed();
}

void lease_rows::look(const machine_clock& clock, const std::string& boot_id, bool by_operator) {
  std::map<name, seen_row> there;
  if (!read(clock, boot_id, there)) return;
  std::set<name> back;
  std::erase_if(there, [&](const auto& one) {
    return ended_.contains(one.first) && back.insert(one.first).second;
  });

  const auto gone = [&](const auto& one) { return !there.contains(one.first); };
  std::vector<std::pair<name, row>> went;
  std::ranges::copy_if(rows_, std::back_inserter(went), gone);
  std::set<std::string> passed;  // elections
  // The release of what a restore has brought back passes the lease on as well.
  for (const name& which : std::exchange(back_, back)) {
    if (!back.contains(which) && was_released(which)) passed.insert(which.election);
  }
  for (const auto& [which, what] : went) {
    const auto successor = std::ranges::find_if(there, [&](const auto& one) {
      return !rows_.contains(one.first) && one.first.election == which.election;
    });
    const bool was_granted = successor != there.end();
    if (by_operator) {
      end(which, what, erased_by::somebody);
    } else if (!was_granted || was_released(which)) {
      if (was_granted) passed.insert(which.election);
      end(which, what, erased_by::transaction);
    } else if (what.until <= world_.now || successor->first.session == which.session) {
      end(which, what, erased_by::expiry);
    } else {
      end_later(which, what);
    }
  }
  for (const auto& [which, seen] : there) {
    auto [known, is_new] = rows_.try_emplace(which);
    row& one = known->second;
    if (is_new) {
      one = {.lease = next_lease(which.session),
             .number = numbers_(which.election, which.version),
             .passed = passed.contains(which.election)};
      newest_ = std::max(newest_, which.version);
      seen_[which.election].changed_at = world_.now;
      witness_.created(which.election + "/" + which.session, one.number, one.lease, seen.identity);
    }
    one.until = seen.until;
    world_time& promised = promised_[one.lease];
    promised = std::max(promised, seen.until);
  }
}

/// Its release may have granted the lease to the next member in the same transaction.
bool lease_rows::was_released(const name& which) {
  auto rows = releases_.rows(which.election);
  return rows.next() && static_cast<std::uint64_t>(rows.integer(0)) == which.version;
}

std::int64_t lease_rows::next_lease(const std::string& session) {
  const auto known =
      sessions_.try_emplace(session, static_cast<std::int64_t>(sessions_.size()) + 1).first;
  constexpr int session_shift = 24;  // as stores/etcd numbers leases, which the judge relies on
  return (known->second << session_shift) + ++last_lease_;
}

void lease_rows::end(const name& which, const row& what, erased_by how) {
  // The judge may look at what holds.
  const std::string key = which.election + "/" + which.session;
  const std::uint64_t number = what.number;
  seen_[which.election].changed_at = world_.now;
  ended_.insert(which);
  rows_.erase(name(which));
  witness_.erased(key, number, how);
}

/// Its row is gone; what it has promised is not.
void lease_rows::end_later(const name& which, const row& what) {
  const std::uint64_t number = what.number;
  // Its member may still hear of it, from before the file was replaced; nobody else counts on that.
  const bool is_unheard = what.passed && !taken_up_.contains(number);
  const bool is_over = is_unheard || given_up_.contains(number);
  const world_time until = is_over ? world_.now : promised_[what.lease];
  fading_[number] = which;
  seen_[which.election].changed_at = world_.now;
  ended_.insert(which);
  rows_.erase(name(which));
  if (until <= world_.now) {
    return fade(number, is_unheard ? erased_by::somebody : erased_by::expiry);
  }
  world_.at(until, [this, number, here = std::weak_ptr(here_)] {
    if (!here.expired()) fade(number);
  });
}

void lease_rows::gives_up(std::uint64_t number) {
  given_up_.insert(number);
  fade(number);
}

void lease_rows::fade(std::uint64_t number, erased_by how) {
  const auto found = fading_.find(number);
  if (found == fading_.end()) return;
  const std::string key = found->second.election + "/" + found->second.session;
  fading_.erase(found);
  witness_.erased(key, number, how);
}

void lease_rows::replaced() {
  while (!rows_.empty()) end_later(rows_.begin()->first, rows_.begin()->second);
}

void lease_rows::rebooted() {
  while (!fading_.empty()) fade(fading_.begin()->first);
  while (!rows_.empty()) {
    const auto [which, what] = *rows_.begin();
    end(which, what, erased_by::expiry);
  }
  // The next one to open the file is alone with it, as after a real reboot.
  all_ = {};
  agreements_ = {};
  releases_ = {};
  db_.reset();
}

std::uint64_t lease_rows::newest_in_file() {
  if (!open()) return 0;
  db_->clear_failure();
  return static_cast<std::uint64_t>(
      db_->integer("SELECT max(coalesce((SELECT max(version) FROM election), 0), "
                   "coalesce((SELECT floor FROM file), 0))",
                   0));
}

world_time lease_rows::promised(std::int64_t lease) const {
  const auto found = promised_.find(lease);
  return found == promised_.end() ? world_time{} : found->second;
}

std::vector<std::uint64_t> lease_rows::holders(const std::string& election) {
  std::vector<std::uint64_t> out;
  for (const auto& [which, what] : rows_) {
    if (which.election == election && what.until > world_.now) out.push_back(what.number);
  }
  std::ranges::sort(out);
  seen_holders& before = seen_[election];
  if (before.numbers != out) before = {.numbers = out, .changed_at = world_.now};
  return out;
}

world_time lease_rows::changed_at(const std::string& election) const {
  const auto found = seen_.find(election);
  return found == seen_.end() ? world_time{} : found->second.changed_at;
}

}  // namespace tenure::shell
