#include "sqlite/sqlite_host.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/check.hpp"
#include "sqlite/modelled_sqlite.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using stores::sqlite::connection;

std::string make_directory() {
  std::error_code none;
  const bool in_memory = std::filesystem::is_directory("/dev/shm", none);
  std::string name =
      (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/shell.XXXXXX";
  TENURE_CHECK(::mkdtemp(name.data()) != nullptr);
  return name;
}

}  // namespace

sqlite_host::sqlite_host(world& in, store_witness& seen_by, lease_rows::numbering numbers)
    : world_(in),
      directory_(make_directory()),
      path_(directory_ + "/disk/leases.db"),
      clock_(in.dice.between(core::duration(1h), 1000h), 0),
      rows_(in, seen_by, path_, std::move(numbers)) {
  model_writes();
  std::filesystem::create_directory(directory_ + "/disk");
}

sqlite_host::~sqlite_host() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

core::duration sqlite_host::takes(core::duration usually, core::duration longest) {
  return world_.dice.spread(1us, std::max(usually, longest));
}

void sqlite_host::healed() {
  longest_start = longest_write = longest_reply = longest_event = {};
  disk_error = 0;
  release_lock();
}

void sqlite_host::look() {
  rows_.look(clock_, boot_id_);
  wake_readers();
}

void sqlite_host::wake_readers() {
  std::vector<pollfd> all;
  std::vector<modelled_readiness*> whose;
  for (modelled_readiness* one : waiting_) {
    if (!one->waits()) continue;
    all.push_back({.fd = one->descriptor(), .events = POLLIN, .revents = 0});
    whose.push_back(one);
  }
  if (all.empty() || ::poll(all.data(), all.size(), 0) <= 0) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((all[i].revents & POLLIN) != 0) whose[i]->wake_in(takes(1ms, longest_event));
  }
}

void sqlite_host::reboot() {
  release_lock();
  rows_.rebooted();
  boot_id_ = "boot-" + std::to_string(++boots_);
  clock_ = machine_clock(
      world_.dice.between(core::duration(1s), 60s) - core::duration(world_.now.time_since_epoch()),
      0);
}

// People and other programs --------------------------------------------------------------------

std::unique_ptr<connection> sqlite_host::connect() const {
  if (::access(path_.c_str(), F_OK) != 0) return nullptr;
  auto opened = connection::open(path_, {});
  if (!opened) return nullptr;
  (*opened)->keep_wal_file();
  // Its end must not write to a file that has taken the place of this one.
  (*opened)->abandon();
  return std::move(*opened);
}

void sqlite_host::take_lock() {
  if (lock_) return;
  lock_ = connect();
  if (lock_) lock_->run("BEGIN IMMEDIATE");
}

void sqlite_host::release_lock() {
  if (lock_) lock_->roll_back();
  lock_.reset();
}

void sqlite_host::delete_row(const std::string& election) {
  look();
  if (const auto db = connect()) {
    db->run(
        ("DELETE FROM lease WHERE version = (SELECT min(version) FROM lease WHERE election = '" +
         election + "') AND election = '" + election + "'")
            .c_str());
  }
  rows_.look(clock_, boot_id_, true);
  look();
}

void sqlite_host::keep_copy() {
  const std::string copy = directory_ + "/copy" + std::to_string(copies_.size());
  const auto db = connect();
  if (!db) return;
  db->run(("VACUUM INTO '" + copy + "'").c_str());
  if (!db->failed()) copies_.push_back(copy);
}

/// A file for one use, as a copy that has the name becomes another one.
std::string sqlite_host::draw_copy() {
  if (copies_.empty()) return "";
  const std::string& from = copies_[world_.dice.below(copies_.size())];
  std::string to = directory_ + "/used";
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  return to;
}

void sqlite_host::keep_inode() {
  base::unique_fd kept(::open(path_.c_str(), O_PATH | O_CLOEXEC));
  if (kept) kept_.push_back(std::move(kept));
}

void sqlite_host::remove_file(others_too with) {
  look();
  keep_inode();
  if (::unlink(path_.c_str()) != 0) return;
  if (with == others_too::yes) {
    for (const char* suffix : {"-wal", "-shm"}) ::unlink((path_ + suffix).c_str());
  }
  rows_.replaced();
  look();
}

void sqlite_host::put_in_place(const std::string& from) {
  look();
  keep_inode();
  std::filesystem::permissions(
      from, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  for (const char* suffix : {"-wal", "-shm"}) ::unlink((path_ + suffix).c_str());
  TENURE_CHECK(::rename(from.c_str(), path_.c_str()) == 0);
  rows_.replaced();
  look();
}

void sqlite_host::replace_by_empty() {
  const std::string empty = directory_ + "/empty";
  const base::unique_fd made(::open(empty.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  TENURE_CHECK(bool(made));
  put_in_place(empty);
}

void sqlite_host::replace_by_copy() {
  const std::string from = draw_copy();
  if (!from.empty()) put_in_place(from);
}

void sqlite_host::restore_over() {
  const std::string from = draw_copy();
  const auto db = connect();
  if (from.empty() || !db) return;
  look();
  const std::int64_t commits = db->integer("SELECT commits FROM file", 0);
  // Nobody has seen the last one: another one over it may bring back what was there before.
  if (restored_ && *restored_ == std::pair(kept_.size(), commits)) return;
  // One of the same transaction as the file: nothing changes.
  db->run(("ATTACH '" + from + "' AS old").c_str());
  if (db->integer("SELECT 1 FROM main.file AS a JOIN old.file AS b USING (inode, mark, commits)",
                  0) == 1) {
    return;
  }
  std::string all = "BEGIN IMMEDIATE;";
  for (const char* table :
       {"election", "lease", "cluster", "farewell", "agreement", "file", "member_order", "place"}) {
    all += std::string("DELETE FROM main.") + table + "; INSERT INTO main." + table +
           " SELECT * FROM old." + table + ";";
  }
  all += "COMMIT";
  db->run(all.c_str());
  const bool done = !db->failed();
  db->roll_back();
  if (done) {
    rows_.replaced();
    restored_ = {kept_.size(), db->integer("SELECT commits FROM file", 0)};
  }
  look();
}

}  // namespace tenure::shell
