// Another program that has the file open: an operator's shell, a backup, a mistake.
//
//   foreign_program PATH SQL [hold]
//
// executes SQL and prints "done". With `hold` it keeps the file, and what it has locked, until
// it is killed.

#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

int main(int count, char** words) {
  if (count < 3) return 2;
  sqlite3* db = nullptr;
  char* error = nullptr;
  if (sqlite3_open(words[1], &db) != SQLITE_OK ||
      sqlite3_exec(db, words[2], nullptr, nullptr, &error) != SQLITE_OK) {
    std::fprintf(stderr, "foreign_program: %s\n", error != nullptr ? error : sqlite3_errmsg(db));
    return 1;
  }
  std::puts("done");
  std::fflush(stdout);
  if (count > 3 && std::string_view(words[3]) == "hold") {
    for (;;) ::pause();
  }
  sqlite3_close(db);
  return 0;
}
