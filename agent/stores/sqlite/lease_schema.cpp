#include "stores/sqlite/lease_schema.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tenure::stores::sqlite {
namespace {

constexpr std::int64_t our_application_id = 0x54454e55;  // "TENU"
constexpr std::int64_t our_schema_version = 1;

/// The names are for people with the sqlite3 shell. Instants are nanoseconds of CLOCK_BOOTTIME
/// within the boot `boot_id`.
constexpr const char* create_tables = R"sql(
  BEGIN IMMEDIATE;
  CREATE TABLE election (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL CHECK (version > 0),
    held    INTEGER NOT NULL CHECK (held >= 0)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE lease (
    election    TEXT NOT NULL,
    session     TEXT NOT NULL,
    identity    TEXT NOT NULL,
    version     INTEGER NOT NULL CHECK (version > 0),
    clean       INTEGER NOT NULL,
    acquired_ns INTEGER NOT NULL,
    renewed_ns  INTEGER NOT NULL,
    expires_ns  INTEGER NOT NULL,
    ttl_ns      INTEGER NOT NULL,
    boot_id     TEXT NOT NULL,
    slot        INTEGER NOT NULL DEFAULT 0 CHECK (slot >= 0),
    PRIMARY KEY (election, session)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE cluster (id TEXT NOT NULL) STRICT;
  INSERT INTO cluster (id) VALUES (lower(hex(randomblob(8))));
  PRAGMA application_id = 1413828181;
  PRAGMA user_version = 1;
  COMMIT;
)sql";

/// Made beside the others wherever they are missing. Agents that do not know these tables ignore
/// them, so they need no new schema version.
constexpr const char* create_later_tables = R"sql(
  CREATE TABLE IF NOT EXISTS farewell (
    election   TEXT PRIMARY KEY,
    version    INTEGER NOT NULL CHECK (version > 0),
    holder     TEXT NOT NULL,
    reason     TEXT NOT NULL,
    heir       TEXT NOT NULL,
    at_unix_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS agreement (
    election TEXT PRIMARY KEY,
    slots    INTEGER NOT NULL CHECK (slots > 0)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS file (
    only           INTEGER PRIMARY KEY CHECK (only = 1),
    inode          INTEGER NOT NULL,
    mark           INTEGER NOT NULL,
    commits        INTEGER NOT NULL,
    floor          INTEGER NOT NULL CHECK (floor >= 0),
    grants_from_ns INTEGER NOT NULL,
    boot_id        TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS member_order (
    election   TEXT NOT NULL,
    id         TEXT NOT NULL,
    member     TEXT NOT NULL,
    action     TEXT NOT NULL,
    version    INTEGER NOT NULL,
    aside_ns   INTEGER NOT NULL,
    heir       TEXT NOT NULL,
    state      TEXT NOT NULL,
    code       TEXT NOT NULL,
    message    TEXT NOT NULL,
    advice     TEXT NOT NULL,
    boot_id    TEXT NOT NULL,
    expires_ns INTEGER NOT NULL,
    PRIMARY KEY (election, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS place (
    election TEXT PRIMARY KEY,
    session  TEXT NOT NULL,
    identity TEXT NOT NULL,
    ttl_ns   INTEGER NOT NULL CHECK (ttl_ns > 0),
    boot_id  TEXT NOT NULL,
    version  INTEGER NOT NULL DEFAULT 0 CHECK (version >= 0)
  ) STRICT, WITHOUT ROWID;
)sql";

/// A column of a table that an earlier agent made without it. Agents that do not know it leave its
/// default.
struct later_column {
  const char* count;
  const char* add;
};
constexpr std::array<later_column, 2> later_columns{
    {{.count = "SELECT count(*) FROM pragma_table_info('lease') WHERE name = 'slot'",
      .add = "ALTER TABLE lease ADD COLUMN slot INTEGER NOT NULL DEFAULT 0 CHECK (slot >= 0)"},
     {.count = "SELECT count(*) FROM pragma_table_info('place') WHERE name = 'version'",
      .add = "ALTER TABLE place ADD COLUMN version INTEGER NOT NULL DEFAULT 0 "
             "CHECK (version >= 0)"}}};

/// Another agent may do the same at the same time.
void add_later_columns(connection& db) {
  const auto is_missing = [&db](const later_column& one) { return db.integer(one.count, 1) == 0; };
  if (std::ranges::none_of(later_columns, is_missing)) return;
  db.run("BEGIN IMMEDIATE");
  for (const later_column& one : later_columns) {
    if (is_missing(one)) db.run(one.add);
  }
  db.run("COMMIT");
}

static_assert(our_application_id == 1413828181 && our_schema_version == 1);

/// What is wrong apart from SQLite's errors; empty if nothing.
std::string objection(std::int64_t application, std::int64_t version) {
  if (application != our_application_id) {
    return "it is the database of another application (application_id " +
           std::to_string(application) + "); name another file";
  }
  if (version != our_schema_version) {
    return "its tables have version " + std::to_string(version) + ", this agent knows version " +
           std::to_string(our_schema_version) +
           "; run the same version of the agent everywhere, or stop all agents and move the file "
           "away";
  }
  return "";
}

}  // namespace

std::expected<void, std::string> set_up(connection& db) {
  const std::int64_t application = db.integer("PRAGMA application_id", 0);
  const std::int64_t version = db.integer("PRAGMA user_version", 0);
  const std::int64_t tables = db.integer("SELECT count(*) FROM sqlite_schema", 0);
  if (db.failed()) return std::unexpected(db.failure());
  const bool empty = application == 0 && version == 0 && tables == 0;
  if (!empty) {
    const std::string wrong = objection(application, version);
    if (!wrong.empty()) return std::unexpected(wrong);
  }

  db.keep_wal_file();
  const std::string mode = db.text("PRAGMA journal_mode = WAL");
  // A commit is on the disk before its answer (but see connection::write_lazily): a version must
  // survive a power failure.
  db.run("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF");
  if (empty) db.run(create_tables);
  db.run(create_later_tables);
  add_later_columns(db);
  const std::string health = db.text("PRAGMA quick_check(1)");
  if (db.failed()) {
    db.roll_back();
    return std::unexpected(db.failure());
  }
  if (mode != "wal") {
    return std::unexpected("WAL cannot be turned on there (journal_mode is " + mode +
                           "); use a local disk");
  }
  if (health != "ok") {
    return std::unexpected("the database is damaged (" + health +
                           "); stop all agents, then move the file away or restore a copy");
  }
  return {};
}

}  // namespace tenure::stores::sqlite
