#include "stores/sqlite/membership.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/random.hpp"
#include "base/trusted_open.hpp"

namespace tenure::stores::sqlite {
namespace {

/// Limit for one file: an identity and the names of 100 elections, each of up to 253 characters,
/// fit.
constexpr std::size_t most_bytes = 32 * 1024;
/// Limit for a directory that somebody has filled with other things.
constexpr std::size_t most_members = 1024;
/// Length of a file's name, which is random and in hex.
constexpr std::size_t name_bytes = 16;

/// True for the name of a member's file. Files with other names are not touched.
bool is_member_name(std::string_view name) {
  return name.size() == 2 * name_bytes &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The name of the file with a member's words.
std::string words_beside(const std::string& member) {
  return member + ".ready";
}

/// The member whose words are in the file with this name; empty: there are none in it.
std::string_view member_beside(std::string_view words) {
  constexpr std::string_view suffix = ".ready";
  if (!words.ends_with(suffix)) return {};
  words.remove_suffix(suffix.size());
  return is_member_name(words) ? words : std::string_view();
}

struct directory_closer {
  void operator()(DIR* what) const { ::closedir(what); }
};

std::string read_all(int descriptor) {
  std::string out;
  std::array<char, 4096> some{};
  for (;;) {
    const ssize_t size =
        ::pread(descriptor, some.data(), some.size(), static_cast<off_t>(out.size()));
    if (size <= 0 || out.size() > most_bytes) return out;
    out.append(some.data(), static_cast<std::size_t>(size));
  }
}

/// Reads the page again if its member is writing it at this moment.
std::optional<member_page> read_page(int descriptor) {
  constexpr int most_tries = 8;
  for (int i = 0; i < most_tries; ++i) {
    if (auto page = parse_page(read_all(descriptor))) return page;
  }
  return std::nullopt;
}

bool names(const member_page& page, std::string_view election) {
  return std::ranges::find(page.elections, election) != page.elections.end();
}

/// True if it is a living member of this election with this identity.
bool lives_as(const membership::entry& one, std::string_view identity, std::string_view election) {
  return one.alive && one.page.identity == identity && names(one.page, election);
}

/// Deletes the words of members whose files are gone: earlier releases leave them behind.
void remove_orphans(int directory, const std::vector<std::string>& words) {
  for (const std::string& name : words) {
    const std::string member(member_beside(name));
    const bool is_gone = ::faccessat(directory, member.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    if (is_gone) ::unlinkat(directory, name.c_str(), 0);
  }
}

}  // namespace

std::string members_directory(const std::string& path) {
  return path + "-members";
}

membership::membership(const std::string& path, times by)
    : path_(path), directory_(members_directory(path)), by_(std::move(by)) {
  page_.boot_id = by_.boot_id;
}

std::expected<void, std::string> membership::prepare() const {
  if (auto made = base::make_own_directory(directory_); !made) {
    return std::unexpected(made.error().text +
                           "; until then members are not listed, and a member that finds the lease "
                           "file deleted, replaced or overwritten does not wait until those that "
                           "held by the earlier one have stopped");
  }
  return {};
}

void membership::appear(const std::string& identity,
                        const std::vector<settings::election>& elections, bool announce) {
  if (!page_.identity.empty()) return;
  page_.identity = identity;
  page_.started_at = by_.clock();
  if (announce && elections.size() <= most_announced) {
    for (const settings::election& e : elections) {
      page_.elections.push_back(e.name);
      words_.emplace(e.name, core::readiness{});
    }
  }
  make_file();
}

bool membership::make_file() {
  own_.clear();
  lock_ = base::unique_fd();
  const auto directory = base::make_own_directory(directory_);
  if (!directory) return true;
  const member_page page = own_page();
  const std::string words = text_of(page);
  // Others see the file only once it is locked and complete.
  const std::string shown = base::random_hex(name_bytes);
  const std::string hidden = "." + shown;
  auto file = base::open_own_file(directory->get(), hidden, O_RDWR | O_CREAT | O_EXCL);
  if (!file) return false;
  const bool whole =
      ::flock(file->get(), LOCK_EX | LOCK_NB) == 0 &&
      ::write(file->get(), words.data(), words.size()) == static_cast<ssize_t>(words.size());
  if (!whole ||
      ::renameat(directory->get(), hidden.c_str(), directory->get(), shown.c_str()) != 0) {
    ::unlinkat(directory->get(), hidden.c_str(), 0);
    return false;
  }
  written_ = page.record;
  own_ = shown;
  lock_ = std::move(*file);
  write_words();
  return true;
}

/// Readers see the earlier words or these, never a part of them.
void membership::write_words() {
  if (own_.empty() || words_.empty()) return;
  words_are_new_ = true;
  const auto directory = base::open_own_directory(directory_);
  if (!directory) return;
  const std::string text = text_of(words_);
  const std::string shown = words_beside(own_);
  const std::string hidden = "." + shown;
  auto file = base::open_own_file(directory->get(), hidden, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return;
  const bool whole =
      ::write(file->get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool is_there =
      whole && ::renameat(directory->get(), hidden.c_str(), directory->get(), shown.c_str()) == 0;
  if (!is_there) ::unlinkat(directory->get(), hidden.c_str(), 0);
  words_are_new_ = !is_there;
}

void membership::say(std::string_view election, const core::readiness& what) {
  const auto own = words_.find(election);
  if (own == words_.end() || std::exchange(own->second, what) == what) return;
  write_words();
}

void membership::repeat_words() {
  if (words_are_new_) write_words();
}

bool membership::is_deleted() const {
  struct stat about{};
  return own_.empty() || ::fstat(lock_.get(), &about) != 0 || about.st_nlink == 0;
}

bool membership::write() {
  if (page_.identity.empty() || mine_.value() == written_) return true;
  if (is_deleted()) return make_file();
  const std::string line = text_of(mine_.value());
  if (::pwrite(lock_.get(), line.data(), line.size(), 0) != static_cast<ssize_t>(line.size())) {
    return false;
  }
  written_ = mine_.value();
  return true;
}

/// True if the lease file that is in place knows all that this record does.
bool membership::is_in_the_lease_file(const member_record& known) const {
  if (known.newest == core::no_version) return true;
  return known.file != file_identity{} && known.file == identify(path_);
}

void membership::leave() {
  page_.identity.clear();
  if (own_.empty()) return;
  const std::string name = std::exchange(own_, "");
  const auto directory = base::open_own_directory(directory_);
  const member_record& known = mine_.value();
  if (directory && known.until <= by_.clock() && is_in_the_lease_file(known)) {
    ::unlinkat(directory->get(), name.c_str(), 0);
  }
  if (directory) ::unlinkat(directory->get(), words_beside(name).c_str(), 0);
  lock_ = base::unique_fd();
  // The last member removes the directory; this fails while anybody is in it.
  ::rmdir(directory_.c_str());
}

std::vector<membership::entry> membership::others() const {
  std::vector<entry> out;
  auto opened = base::open_own_directory(directory_);
  if (!opened) return out;
  const std::unique_ptr<DIR, directory_closer> directory(::fdopendir(opened->get()));
  if (!directory) return out;
  const int at = opened->release();
  const core::time_point now = by_.clock();
  std::size_t looked_at = 0;
  std::vector<std::string> words;
  std::set<std::string, std::less<>> there;
  while (const dirent* next = ::readdir(directory.get())) {
    const std::string name = next->d_name;
    if (!member_beside(name).empty() && words.size() < most_members) words.push_back(name);
    if (!is_member_name(name)) continue;
    there.insert(name);
    if (name == own_) continue;
    if (++looked_at > most_members) break;
    const auto file = base::open_own_file(at, name, O_RDONLY);
    if (!file) continue;
    const bool alive = ::flock(file->get(), LOCK_SH | LOCK_NB) != 0;
    auto page = read_page(file->get());
    if (!page) {
      if (!alive) ::unlinkat(at, name.c_str(), 0);
      continue;
    }
    const bool lasts = page->boot_id == by_.boot_id && page->record.until > now;
    out.push_back({.name = name, .alive = alive, .lasts = lasts, .page = std::move(*page)});
    if (!alive) continue;
    if (const auto said = base::open_own_file(at, words_beside(name), O_RDONLY)) {
      out.back().words = parse_words(read_all(said->get()));
    }
  }
  std::erase_if(words, [&](const auto& one) { return there.contains(member_beside(one)); });
  remove_orphans(at, words);
  return out;
}

void membership::forget_dead(const std::vector<entry>& others) {
  if (own_.empty()) return;
  // A member that has seen a newer transaction than we have is evidence of an older copy.
  const auto over = [this](const entry& one) {
    const member_record& mine = mine_.value();
    const bool knows_more =
        one.page.record.file == mine.file && one.page.record.commits > mine.commits;
    return !one.alive && !one.lasts && !knows_more;
  };
  if (std::ranges::none_of(others, over)) return;
  for (const entry& one : others) {
    if (over(one)) mine_.saw_version(one.page.record.newest);
  }
  const auto directory = base::open_own_directory(directory_);
  if (!directory || !write()) return;
  for (const entry& one : others) {
    if (!over(one)) continue;
    ::unlinkat(directory->get(), words_beside(one.name).c_str(), 0);
    ::unlinkat(directory->get(), one.name.c_str(), 0);
  }
}

member_page membership::own_page() const {
  member_page page = page_;
  page.record = mine_.value();
  return page;
}

core::member_list membership::members_of(const std::vector<entry>& others,
                                         std::string_view election) const {
  std::vector<core::member> out;
  const auto add = [&](const member_page& page, const member_words& words) {
    if (names(page, election)) out.push_back(member_with(page.identity, words, election));
  };
  for (const entry& one : others) {
    if (one.alive) add(one.page, one.words);
  }
  if (!own_.empty()) add(page_, words_);
  return out;
}

bool membership::has_namesake(const std::vector<entry>& others, std::string_view election) const {
  const auto came_first = [&](const entry& one) {
    return own_.empty() ||
           std::tie(one.page.started_at, one.name) < std::tie(page_.started_at, own_);
  };
  return std::ranges::any_of(others, [&](const entry& one) {
    return lives_as(one, page_.identity, election) && came_first(one);
  });
}

bool membership::is_listed(const std::vector<entry>& others, std::string_view identity,
                           std::string_view election) {
  return std::ranges::any_of(others,
                             [&](const entry& one) { return lives_as(one, identity, election); });
}

}  // namespace tenure::stores::sqlite
