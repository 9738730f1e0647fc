#include "cli/command_check.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/error_text.hpp"
#include "cli/text/print.hpp"
#include "cli/text/variable.hpp"
#include "config/problem.hpp"
#include "guard/guard_process.hpp"
#include "process/exec_status.hpp"

namespace tenure::cli {
namespace {

/// The errno value with which executing the file would fail; 0 if it would start.
int fault_of_file(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return errno;
  if (S_ISDIR(about.st_mode)) return EISDIR;
  return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

std::string search_path() {
  if (auto given = variable("PATH")) return std::move(*given);
  std::array<char, 256> usual{};
  ::confstr(_CS_PATH, usual.data(), usual.size());
  return usual.data();
}

int fault_of(const std::string& program) {
  if (program.contains('/')) return fault_of_file(program);
  int fault = ENOENT;
  const std::string path = search_path();
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    const int here = fault_of_file(folder.empty() ? program : folder + "/" + program);
    if (here == 0) return 0;
    // The search continues past a file that may not be executed, but the error must name it.
    if (here == EACCES) fault = here;
    begin = end + 1;
  }
  return fault;
}

}  // namespace

std::optional<int> refuse_command(const std::string& verb, const std::string& program) {
  const int fault = fault_of(program);
  if (fault == 0) return std::nullopt;
  const bool missing = fault == ENOENT || fault == ENOTDIR;
  const std::string hint = missing ? "give its path, or a name that is in PATH"
                                   : "make it an executable file, or give another";
  print_failure(verb, "the command " + settings::quote(program) +
                          " cannot be executed: " + base::error_text(fault) + "; " + hint);
  return missing ? process::exit_command_not_found : process::exit_command_not_executable;
}

}  // namespace tenure::cli
