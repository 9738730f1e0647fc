#include "stores/sqlite/connection.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/error_text.hpp"

namespace tenure::stores::sqlite {
namespace {

/// Pauses between two tries to take a lock that others hold. Short at first: a transaction of ours
/// takes about as long as one write to the disk.
constexpr core::duration first_pause = std::chrono::microseconds(250);
constexpr core::duration longest_pause = std::chrono::milliseconds(5);
constexpr int doublings_to_longest = 5;

struct code_row {
  int code;
  code_entry entry;
};

constexpr auto done = code_meaning::done;
constexpr auto unknown = code_meaning::unknown;

constexpr const char* free_space = "free some space there; the store goes on by itself";
constexpr const char* find_the_other =
    "find the program with `fuser` on the file, and let it finish or kill it";
constexpr const char* restore = "stop all agents, then move the file away or restore a copy";
constexpr const char* make_writable =
    "make the file and its directory writable for the agent, and mount the volume read-write";

/// A commit that fails may have happened or not, so every error is unknown.
constexpr std::array<code_row, 24> codes{{
    {SQLITE_OK, {done, "done", ""}},
    {SQLITE_ROW, {done, "a row", ""}},
    {SQLITE_DONE, {done, "done", ""}},
    {SQLITE_READONLY_DBMOVED,
     {unknown, "the file was moved or deleted while open", "the store opens it again by itself"}},
    {SQLITE_IOERR_NOMEM, {unknown, "out of memory", "raise the memory limit of the agent"}},
    {SQLITE_BUSY, {unknown, "another program holds its lock", find_the_other}},
    {SQLITE_LOCKED, {unknown, "another connection of this process holds its lock", find_the_other}},
    {SQLITE_PROTOCOL, {unknown, "too many programs contend for its lock", find_the_other}},
    {SQLITE_FULL, {unknown, "the disk is full", free_space}},
    {SQLITE_IOERR, {unknown, "reading or writing failed", "check the disk (`dmesg`)"}},
    {SQLITE_READONLY, {unknown, "the file or its file system is read-only", make_writable}},
    {SQLITE_PERM, {unknown, "permission denied", make_writable}},
    {SQLITE_AUTH, {unknown, "permission denied", make_writable}},
    {SQLITE_CANTOPEN, {unknown, "the file or its -wal or -shm cannot be opened", make_writable}},
    {SQLITE_NOTADB, {unknown, "it is not an SQLite database", restore}},
    {SQLITE_CORRUPT, {unknown, "the database is damaged", restore}},
    {SQLITE_FORMAT, {unknown, "the database is damaged", restore}},
    {SQLITE_SCHEMA, {unknown, "its tables changed meanwhile", "do not alter the tables"}},
    {SQLITE_CONSTRAINT, {unknown, "a row contradicts the tables", "do not alter the tables"}},
    {SQLITE_NOMEM, {unknown, "out of memory", "raise the memory limit of the agent"}},
    {SQLITE_NOLFS, {unknown, "the file is too large for this system", restore}},
    {SQLITE_TOOBIG, {unknown, "a name is too long", "shorten identity and election names"}},
    {SQLITE_INTERRUPT, {unknown, "the store is being closed", ""}},
    {SQLITE_ABORT, {unknown, "the transaction was rolled back", "the agent tries again"}},
}};

std::string describe(int code, int system_error) {
  const code_entry entry = look_up(code);
  std::string text = entry.reason;
  text += std::string(" (") + sqlite3_errstr(code) + ", code " + std::to_string(code);
  if (system_error != 0) text += ", " + base::error_text(system_error);
  text += ")";
  if (*entry.advice != '\0') text += std::string("; ") + entry.advice;
  return text;
}

}  // namespace

code_entry look_up(int result_code) {
  constexpr int primary_bits = 0xff;
  for (const int code : {result_code, result_code & primary_bits}) {
    const auto found = std::ranges::find(codes, code, &code_row::code);
    if (found != codes.end()) return found->entry;
  }
  return {unknown, "an error that is not in our table", "see the SQLite documentation"};
}

std::string library_version() {
  return sqlite3_libversion();
}

// A connection ----------------------------------------------------------------------------------

void connection::closer::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

std::expected<std::unique_ptr<connection>, std::string> connection::open(const std::string& path,
                                                                         patience waiting) {
  std::unique_ptr<connection> made(new connection);
  made->waiting_ = waiting;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  made->handle_.reset(handle);
  if (code != SQLITE_OK) {
    return std::unexpected(describe(code, handle ? sqlite3_system_errno(handle) : 0));
  }
  // SQLite falls back to read-only silently.
  if (sqlite3_db_readonly(handle, "main") == 1) {
    return std::unexpected(describe(SQLITE_READONLY, 0));
  }
  sqlite3_busy_handler(handle, &connection::on_busy, made.get());
  return made;
}

void connection::keep_wal_file() {
  int on = 1;
  note(sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_PERSIST_WAL, &on));
}

void connection::abandon() {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

int connection::on_busy(void* self, int tries) {
  const patience& waiting = static_cast<connection*>(self)->waiting_;
  if (waiting.stop != nullptr && waiting.stop->load(std::memory_order_relaxed)) return 0;
  const core::duration left = waiting.deadline - waiting.clock->now();
  if (left <= core::duration::zero()) return 0;
  const core::duration pause = first_pause * (1 << std::min(tries, doublings_to_longest));
  waiting.clock->pause(std::min({pause, longest_pause, left}));
  return 1;
}

void connection::note(int result_code) {
  if (failed() || look_up(result_code).meaning == code_meaning::done) return;
  const bool of_the_system = (result_code & 0xff) == SQLITE_IOERR ||
                             (result_code & 0xff) == SQLITE_CANTOPEN ||
                             (result_code & 0xff) == SQLITE_FULL;
  failure_ = describe(result_code, of_the_system ? sqlite3_system_errno(handle_.get()) : 0);
}

void connection::run(const char* sql) {
  if (!failed()) note(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr));
}

void connection::roll_back() {
  if (sqlite3_get_autocommit(handle_.get()) == 0) {
    sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

std::int64_t connection::integer(const char* sql, std::int64_t otherwise) {
  statement asked(*this, sql);
  auto row = asked.rows();
  return row.next() ? row.integer(0) : otherwise;
}

std::string connection::text(const char* sql) {
  statement asked(*this, sql);
  auto row = asked.rows();
  return row.next() ? row.text(0) : std::string();
}

std::int64_t connection::changes() const {
  return sqlite3_total_changes64(handle_.get());
}

// A statement -----------------------------------------------------------------------------------

void statement::finalizer::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

statement::statement(connection& owner, const char* sql) : owner_(&owner) {
  if (owner.failed()) return;
  sqlite3_stmt* handle = nullptr;
  owner.note(sqlite3_prepare_v3(owner.handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &handle,
                                nullptr));
  handle_.reset(handle);
}

void statement::bind(int place, std::int64_t value) {
  if (!owner_->failed()) owner_->note(sqlite3_bind_int64(handle_.get(), place, value));
}

void statement::bind(int place, std::string_view value) {
  if (owner_->failed()) return;
  owner_->note(
      sqlite3_bind_text64(handle_.get(), place, value.data(), value.size(), nullptr, SQLITE_UTF8));
}

std::int64_t statement::finish() {
  if (owner_->failed()) return 0;
  owner_->note(sqlite3_step(handle_.get()));
  sqlite3_reset(handle_.get());
  return owner_->failed() ? 0 : sqlite3_changes64(owner_->handle_.get());
}

statement::cursor::~cursor() {
  if (of_.handle_) sqlite3_reset(of_.handle_.get());
}

bool statement::cursor::next() {
  if (of_.owner_->failed()) return false;
  const int code = sqlite3_step(of_.handle_.get());
  of_.owner_->note(code);
  return code == SQLITE_ROW;
}

std::int64_t statement::cursor::integer(int column) const {
  return sqlite3_column_int64(of_.handle_.get(), column);
}

std::string statement::cursor::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(of_.handle_.get(), column));
  const int size = sqlite3_column_bytes(of_.handle_.get(), column);
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

}  // namespace tenure::stores::sqlite
