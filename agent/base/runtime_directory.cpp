#include "base/runtime_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace tenure::base {
namespace {

constexpr const char* name = "/tenure";

bool is_directory(const std::string& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

}  // namespace

std::string default_runtime_directory() {
  if (::geteuid() == 0) return is_directory("/run") ? std::string("/run") + name : "";
  const char* const given = std::getenv("XDG_RUNTIME_DIR");
  if (given != nullptr && given[0] == '/') return std::string(given) + name;
  const std::string usual = "/run/user/" + std::to_string(::geteuid());
  return is_directory(usual) ? usual + name : "";
}

}  // namespace tenure::base
