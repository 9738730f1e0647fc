#include "stores/sqlite/member_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace tenure::stores::sqlite {
namespace {

/// Of one file: a name and the names of 100 elections, each of up to 253 characters, fit.
constexpr std::size_t most_bytes = 32 * 1024;
/// In a directory that somebody has filled with other things.
constexpr std::size_t most_members = 1024;

struct directory_closer {
  void operator()(DIR* what) const { ::closedir(what); }
};

/// First line: the identity; one more for each election.
std::optional<member_files::member> parse(std::string_view text) {
  member_files::member out;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string line(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (std::exchange(first, false)) {
      out.identity = line;
    } else {
      out.elections.push_back(line);
    }
  }
  return out.identity.empty() ? std::nullopt : std::optional(std::move(out));
}

std::string read_all(int descriptor) {
  std::string out;
  std::array<char, 4096> some{};
  for (;;) {
    const ssize_t size = ::read(descriptor, some.data(), some.size());
    if (size <= 0 || out.size() > most_bytes) return out;
    out.append(some.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

std::string members_directory(const std::string& path) {
  return path + "-members";
}

void member_files::prepare() const {
  ::mkdir(directory_.c_str(), 0700);
}

void member_files::appear(const std::string& session, const std::string& identity,
                          const std::vector<election_spec>& elections) {
  if (!own_.empty() || elections.size() > most_announced) return;
  prepare();
  std::string words = identity + "\n";
  for (const election_spec& e : elections) words += e.name + "\n";
  // Seen only once it is locked and whole.
  const std::string hidden = directory_ + "/." + session;
  os::unique_fd file(
      ::open(hidden.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return;
  const bool written =
      ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
      ::write(file.get(), words.data(), words.size()) == static_cast<ssize_t>(words.size());
  const std::string shown = directory_ + "/" + session;
  if (!written || ::rename(hidden.c_str(), shown.c_str()) != 0) {
    ::unlink(hidden.c_str());
    return;
  }
  own_ = shown;
  lock_ = std::move(file);
}

void member_files::leave() {
  if (own_.empty()) return;
  ::unlink(std::exchange(own_, "").c_str());
  lock_ = os::unique_fd();
  // The last one tidies up; it stays as long as anybody is in it.
  ::rmdir(directory_.c_str());
}

std::vector<member_files::member> member_files::list() const {
  std::vector<member> out;
  const std::unique_ptr<DIR, directory_closer> directory(::opendir(directory_.c_str()));
  if (!directory) return out;
  const int at = ::dirfd(directory.get());
  std::size_t looked_at = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const char* name = entry->d_name;
    if (name[0] == '.') continue;
    if (++looked_at > most_members) break;
    const os::unique_fd file(::openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) continue;
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) {
      ::unlinkat(at, name, 0);
      continue;
    }
    if (auto one = parse(read_all(file.get()))) out.push_back(std::move(*one));
  }
  return out;
}

std::vector<std::string> members_of(const std::vector<member_files::member>& all,
                                    std::string_view election) {
  std::vector<std::string> out;
  for (const member_files::member& one : all) {
    if (std::ranges::find(one.elections, election) != one.elections.end()) {
      out.push_back(one.identity);
    }
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

}  // namespace tenure::stores::sqlite
