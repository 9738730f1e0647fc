#include "base/exposed_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/trusted_open.hpp"

namespace tenure::base {

std::string why_exposed(const std::string& directory) {
  const auto opened =
      open_trusted(AT_FDCWD, directory.c_str(), O_PATH,
                   {.type = S_IFDIR, .not_for = S_IWOTH, .any_owner = true, .named = true});
  if (opened || opened.error().why != flaw::kind::mode) return {};
  return "every user can write to the directory " + directory +
         " and put links in the place of SQLite's files; make a directory in it that belongs to "
         "user " +
         std::to_string(::geteuid()) + " alone, and put the file there";
}

}  // namespace tenure::base
