#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/clock.hpp"
#include "stores/sqlite/thread_clock.hpp"

struct sqlite3;
struct sqlite3_stmt;

/// The part of SQLite's C interface that leases need. Nothing else includes sqlite3.h.
namespace tenure::stores::sqlite {

/// How long a statement may wait for the locks of others.
struct patience {
  core::time_point deadline;
  const std::atomic<bool>* stop = nullptr;  ///< true: stop waiting
  const thread_clock* clock = &kernel_clock();
};

/// What a result code means, in the terms of stores/store.hpp. No SQLite code means refused or
/// lost: the rows say that.
enum class code_meaning : std::uint8_t { done, unknown };

struct code_entry {
  code_meaning meaning;
  const char* reason;  ///< what happened
  const char* advice;  ///< what to do next
};

/// Looks a result code up, extended codes first. A code outside the table is unknown.
code_entry look_up(int result_code);

class connection;

/// A prepared statement. Belongs to its connection and must not outlive it.
class statement {
 public:
  /// The rows of one execution. Its destructor ends the execution.
  class cursor {
   public:
    explicit cursor(statement& of) : of_(of) {}
    cursor(const cursor&) = delete;
    cursor& operator=(const cursor&) = delete;
    ~cursor();

    /// Advances to the next row. False at the end, and after a failure: see `connection::failed`.
    bool next();
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::string text(int column) const;

   private:
    statement& of_;
  };

  statement() = default;
  statement(connection& owner, const char* sql);

  /// Starts an execution with these arguments, which must live as long as the cursor.
  template <class... Arguments>
  cursor rows(const Arguments&... arguments) {
    int place = 0;
    (bind(++place, arguments), ...);
    return cursor(*this);
  }

  /// Executes the statement. Returns how many rows it changed.
  template <class... Arguments>
  std::int64_t run(const Arguments&... arguments) {
    int place = 0;
    (bind(++place, arguments), ...);
    return finish();
  }

 private:
  struct finalizer {
    void operator()(sqlite3_stmt* handle) const;
  };

  void bind(int place, std::int64_t value);
  void bind(int place, std::string_view value);
  std::int64_t finish();

  connection* owner_ = nullptr;
  std::unique_ptr<sqlite3_stmt, finalizer> handle_;
};

/// One open database.
///
/// Failures are sticky: the connection keeps the first one, and until `clear_failure` every later
/// statement does nothing and shows no rows. So a transaction is written as if nothing could fail,
/// and checked once, at its end.
///
/// Not thread-safe; must not move, as statements know its address.
class connection {
 public:
  /// Opens an existing file for reading and writing. The text says why it cannot be opened.
  static std::expected<std::unique_ptr<connection>, std::string> open(const std::string& path,
                                                                      patience waiting);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Keeps the WAL file after the last close, so that it stays the same file for as long as the
  /// database exists: another one means that somebody has interfered.
  void keep_wal_file();
  /// Call when the name leads to another file: closing must no longer write to this one.
  void abandon();

  void wait(patience waiting) { waiting_ = waiting; }
  /// Whether what is committed from now on may be lost if the machine fails, with all that is
  /// committed lazily after it. Other processes see it at once, as any commit. Call outside of a
  /// transaction.
  void write_lazily(bool lazily) {
    run(lazily ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
  }
  /// Executes statements that return no rows.
  void run(const char* sql);
  /// The first column of the first row, or `otherwise`.
  std::int64_t integer(const char* sql, std::int64_t otherwise);
  std::string text(const char* sql);
  /// Rolls the transaction back, also after a failure, which stays recorded.
  void roll_back();
  /// Rows changed since the database was opened.
  [[nodiscard]] std::int64_t changes() const;

  [[nodiscard]] bool failed() const { return !failure_.empty(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  void clear_failure() { failure_.clear(); }
  /// Records a failure that SQLite does not know of. Precondition: not empty.
  void fail(std::string why) {
    if (!failed()) failure_ = std::move(why);
  }

 private:
  friend class statement;
  struct closer {
    void operator()(sqlite3* handle) const;
  };

  connection() = default;
  void note(int result_code);
  static int on_busy(void* self, int tries);

  patience waiting_{};
  std::string failure_;
  std::unique_ptr<sqlite3, closer> handle_;
};

/// The version of the SQLite library in use, e.g. "3.40.1".
std::string library_version();

}  // namespace tenure::stores::sqlite
