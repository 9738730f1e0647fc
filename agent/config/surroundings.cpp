#include "config/surroundings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/error_text.hpp"
#include "base/exposed_directory.hpp"
#include "base/trusted_open.hpp"
#include "config/other_tools.hpp"
#include "settings/store_kind.hpp"

namespace tenure::config {
namespace {

/// Stands for a secret in a variable of another tool.
constexpr std::string_view not_read = "(not read)";

std::unexpected<problem> cannot_read(const std::string& path, const std::string& why,
                                     std::string suggestion = {}) {
  return std::unexpected(problem{path, "the file cannot be read: " + why, std::move(suggestion)});
}

}  // namespace

file_result read_file(const std::string& path) {
  const auto fd = base::open_trusted(AT_FDCWD, path.c_str(), O_RDONLY, base::named_by_an_operator);
  if (!fd && fd.error().why == base::flaw::kind::cannot_open) {
    return cannot_read(path, base::error_text(fd.error().error), base::remedy_of(fd.error().error));
  }
  if (!fd) return cannot_read(path, base::text("it", fd.error()));

  file out{path, {}};
  std::array<char, 16 * 1024> buffer{};
  while (out.text.size() <= max_file_bytes) {
    const ssize_t n = ::read(fd->get(), buffer.data(), buffer.size());
    if (n == 0) return out;
    if (n > 0) {
      out.text.append(buffer.data(), static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      return cannot_read(path, base::error_text(errno));
    }
  }
  return cannot_read(path, "it has more than " + std::to_string(max_file_bytes) + " bytes",
                     "check its path");
}

std::vector<problem> problems_here(const configuration& s) {
  const std::array<std::pair<setting, const std::string&>, 5> files{
      {{setting::ca_file, s.secure.ca_file},
       {setting::certificate_file, s.secure.certificate_file},
       {setting::key_file, s.secure.key_file},
       {setting::password_file, s.secure.password_file},
       {setting::token_file, s.secure.token_file}}};
  std::vector<problem> out;
  const auto reject = [&](setting which, const std::string& why) {
    const std::size_t end = std::min(why.find("; "), why.size());
    out.push_back({s.origin_of(which).where, key_of(which) + ": " + why.substr(0, end),
                   end == why.size() ? "" : why.substr(end + 2)});
  };
  for (const auto& [which, path] : files) {
    if (path.empty()) continue;
    const auto opened =
        base::open_trusted(AT_FDCWD, path.c_str(), O_PATH, base::named_by_an_operator);
    if (opened || opened.error().why == base::flaw::kind::cannot_open) continue;
    reject(which, base::text(path, opened.error()));
  }
  const settings::store_kind* const kind = settings::find_store_kind(s.store);
  if (kind != nullptr && kind->is_file() && s.endpoints.size() == 1) {
    const std::string& path = s.endpoints.front();
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const std::string why = base::why_exposed(folder);
    if (!why.empty()) reject(setting::endpoint, why);
  }
  return out;
}

std::vector<name_and_value> environment() {
  std::vector<name_and_value> out;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !may_be_setting(text.substr(0, equals))) continue;
    const std::string_view name = text.substr(0, equals);
    const std::string_view content = text.substr(equals + 1);
    out.emplace_back(name, is_secret_variable(name) && !content.empty() ? not_read : content);
  }
  return out;
}

std::optional<kubeconfig_variable> kubeconfig_of_environment() {
  const char* const value = std::getenv(std::string(kubeconfig_paths).c_str());
  if (value == nullptr) return std::nullopt;
  std::optional<kubeconfig_variable> out;
  bool exists = false;
  const std::string_view list = value;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    const std::string path(list.substr(begin, end - begin));
    begin = end + 1;
    if (path.empty()) continue;
    if (!out) out = kubeconfig_variable{.path = path, .listed = 0};
    ++out->listed;
    if (exists || ::access(path.c_str(), F_OK) != 0) continue;
    exists = true;
    out->path = path;
  }
  return out;
}

std::optional<pod> this_pod(const std::string& folder) {
  const char* const host = std::getenv(pod_host.data());
  const char* const port = std::getenv(pod_port.data());
  if (host == nullptr || port == nullptr || *host == '\0' || *port == '\0') return std::nullopt;
  const std::string address = host;
  const bool is_v6 = address.contains(':');
  pod out{.endpoint = "https://" + (is_v6 ? "[" + address + "]" : address) + ":" + port,
          .folder = folder,
          .name_space = {},
          .host_name = host_name()};
  if (::access(out.token_file().c_str(), F_OK) != 0) return std::nullopt;
  if (auto said = read_file(folder + "/namespace")) {
    out.name_space = said->text.substr(0, said->text.find('\n'));
  }
  return out;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace tenure::config
