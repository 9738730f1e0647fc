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

/// SQLite's C interface, as far as leases need it. Nothing else includes sqlite3.h.
namespace tenure::stores::sqlite {

/// How long a statement may wait for the locks of others.
struct patience {
  core::time_point deadline;
  const std::atomic<bool>* stop = nullptr;  ///< set: do not wait any longer
  const thread_clock* clock = &kernel_clock();
};

/// What a result code means, in the words of stores/store.hpp. No code of SQLite's means refused
/// or lost: those are what the rows say.
enum class code_meaning : std::uint8_t { done, unknown };

struct code_entry {
  code_meaning meaning;
  const char* reason;  ///< what happened
  const char* advice;  ///< what to do next
};

/// The table of result codes, extended ones first. Whatever is not in it is unknown.
code_entry look_up(int result_code);

class connection;

/// A statement, prepared once. Belongs to its connection and must not outlive it.
class statement {
 public:
  /// The rows of one execution; ends it when it goes out of scope.
  class cursor {
   public:
    explicit cursor(statement& of) : of_(of) {}
    cursor(const cursor&) = delete;
    cursor& operator=(const cursor&) = delete;
    ~cursor();

    /// The next row. False at the end, and after a failure: see `connection::failed`.
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

  /// Executes it for its effect. Returns how many rows it changed.
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
/// Failures are sticky: the first one is kept, and until `clear_failure` every later statement
/// does nothing and shows no rows. So a transaction is written down as if nothing failed, and
/// asked once, at its end, whether that was so.
///
/// Not thread-safe; must not move, as statements know its address.
class connection {
 public:
  /// Opens a file that exists, for reading and writing. The text says why it cannot be.
  static std::expected<std::unique_ptr<connection>, std::string> open(const std::string& path,
                                                                      patience waiting);
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// The WAL file survives the last close, so that it is the same file for as long as the
  /// database is: whoever finds another one knows that somebody has interfered.
  void keep_wal_file();
  /// The file is no longer what its name leads to: closing must not write to it any more.
  void abandon();

  void wait(patience waiting) { waiting_ = waiting; }
  /// Executes statements that give no rows.
  void run(const char* sql);
  /// The first column of the first row, or `otherwise`.
  std::int64_t integer(const char* sql, std::int64_t otherwise);
  std::string text(const char* sql);
  /// Ends the transaction without effect, also after a failure, which is kept.
  void roll_back();
  /// Rows changed since the database was opened.
  [[nodiscard]] std::int64_t changes() const;

  [[nodiscard]] bool failed() const { return !failure_.empty(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  void clear_failure() { failure_.clear(); }
  /// A failure that SQLite knows nothing of. Not empty.
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

/// "3.40.1": the version of the library in use.
std::string library_version();

}  // namespace tenure::stores::sqlite
