#include "stores/sqlite/member_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "os/random.hpp"
#include "os/trusted_open.hpp"

namespace tenure::stores::sqlite {
namespace {

/// Of one file: a name and the names of 100 elections, each of up to 253 characters, fit.
constexpr std::size_t most_bytes = 32 * 1024;
/// In a directory that somebody has filled with other things.
constexpr std::size_t most_members = 1024;
/// Of a file's name, which is random and in hex.
constexpr std::size_t name_bytes = 16;

/// Is this the name of a member's file? Files with other names are none of our business.
bool is_member_name(std::string_view name) {
  return name.size() == 2 * name_bytes &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

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

std::expected<void, std::string> member_files::prepare() const {
  if (auto made = os::make_own_directory(directory_); !made) {
    return std::unexpected(made.error().text + "; until then members are not listed");
  }
  return {};
}

void member_files::appear(const std::string& identity,
                          const std::vector<election_spec>& elections) {
  if (!own_.empty() || elections.size() > most_announced) return;
  const auto directory = os::make_own_directory(directory_);
  if (!directory) return;
  std::string words = identity + "\n";
  for (const election_spec& e : elections) words += e.name + "\n";
  // Seen only once it is locked and whole.
  const std::string shown = os::random_hex(name_bytes);
  const std::string hidden = "." + shown;
  auto file = os::open_own_file(directory->get(), hidden, O_RDWR | O_CREAT | O_EXCL);
  if (!file) return;
  const bool written =
      ::flock(file->get(), LOCK_EX | LOCK_NB) == 0 &&
      ::write(file->get(), words.data(), words.size()) == static_cast<ssize_t>(words.size());
  if (!written ||
      ::renameat(directory->get(), hidden.c_str(), directory->get(), shown.c_str()) != 0) {
    ::unlinkat(directory->get(), hidden.c_str(), 0);
    return;
  }
  own_ = shown;
  lock_ = std::move(*file);
}

void member_files::leave() {
  if (own_.empty()) return;
  const std::string name = std::exchange(own_, "");
  if (const auto directory = os::open_own_directory(directory_)) {
    ::unlinkat(directory->get(), name.c_str(), 0);
  }
  lock_ = os::unique_fd();
  // The last one tidies up; it stays as long as anybody is in it.
  ::rmdir(directory_.c_str());
}

std::vector<member_files::member> member_files::list() const {
  std::vector<member> out;
  auto opened = os::open_own_directory(directory_);
  if (!opened) return out;
  const std::unique_ptr<DIR, directory_closer> directory(::fdopendir(opened->get()));
  if (!directory) return out;
  const int at = opened->release();
  std::size_t looked_at = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (!is_member_name(name)) continue;
    if (++looked_at > most_members) break;
    const auto file = os::open_own_file(at, name, O_RDONLY);
    if (!file) continue;
    if (::flock(file->get(), LOCK_SH | LOCK_NB) == 0) {
      ::unlinkat(at, name.c_str(), 0);
      continue;
    }
    if (auto one = parse(read_all(file->get()))) out.push_back(std::move(*one));
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
