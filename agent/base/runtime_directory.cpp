#include "base/runtime_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace tenure::base {
namespace {

constexpr const char* name = "/tenure";

std::string environment_value(const char* which) {
  const char* const given = std::getenv(which);
  return given == nullptr ? "" : given;
}

/// What systemd has made for this unit, as of RuntimeDirectory=tenure/NAME; else empty. The
/// variable may have several paths, separated by colons.
std::string directory_of_unit() {
  const std::string all = environment_value("RUNTIME_DIRECTORY") + ":";
  const std::string within = std::string(system_runtime_directory) + "/";
  std::size_t from = 0;
  for (std::size_t to = all.find(':'); to != std::string::npos; to = all.find(':', from)) {
    const std::string one = all.substr(from, to - from);
    if (one.starts_with(within)) return one;
    from = to + 1;
  }
  return {};
}

bool is_directory(const std::string& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

}  // namespace

std::string default_runtime_directory() {
  if (::geteuid() == 0) return is_directory("/run") ? system_runtime_directory : "";
  const std::string given = environment_value("XDG_RUNTIME_DIR");
  if (given.starts_with('/')) return given + name;
  if (std::string of_unit = directory_of_unit(); !of_unit.empty()) return of_unit;
  const std::string usual = "/run/user/" + std::to_string(::geteuid());
  if (is_directory(usual)) return usual + name;
  return is_directory("/tmp") ? "/tmp/tenure-" + std::to_string(::geteuid()) : "";
}

std::string unit_name() {
  const std::string directory = directory_of_unit();
  return directory.substr(directory.rfind('/') + 1);
}

std::string runtime_directory(const std::string& given) {
  if (given == "off") return {};
  return given.empty() ? default_runtime_directory() : given;
}

}  // namespace tenure::base
