#include "stores/sqlite/file_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error_text.hpp"
#include "stores/sqlite/membership.hpp"

namespace tenure::stores::sqlite {
namespace {

constexpr std::uint32_t file_events = IN_ATTRIB | IN_CLOSE_WRITE;
/// Few, as the directory may be busy with files of others.
constexpr std::uint32_t directory_events =
    IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF;
/// Members appear by a rename, leave by a deletion, and die with their file open.
constexpr std::uint32_t members_events = IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE;
/// After one of these, the watch is on a directory that no longer has the name.
constexpr std::uint32_t directory_gone = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
constexpr std::size_t event_buffer_size = 4096;

std::unexpected<std::string> cannot_watch(const std::string& what, int error) {
  std::string advice;
  if (error == ENOSPC) advice = "; raise sysctl fs.inotify.max_user_watches";
  if (error == EMFILE) {
    advice = "; raise sysctl fs.inotify.max_user_instances, or the limit of open files";
  }
  return std::unexpected("cannot watch " + what + " (inotify): " + base::error_text(error) +
                         advice);
}

}  // namespace

file_watch::file_watch(surroundings& in, const std::string& path, std::function<void()> changed,
                       std::function<void(std::string)> broken)
    : surroundings_(in),
      path_(path),
      parts_(split(path)),
      changed_(std::move(changed)),
      broken_(std::move(broken)) {}

std::expected<void, std::string> file_watch::start() {
  const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor < 0) return cannot_watch(path_, errno);
  events_.reset(descriptor);
  directory_watch_ =
      ::inotify_add_watch(descriptor, parts_.directory.c_str(), directory_events | IN_ONLYDIR);
  if (directory_watch_ < 0) return cannot_watch(parts_.directory, errno);
  if (auto watched = watch_file(); !watched) return watched;
  readable_ = surroundings_.when_readable(descriptor, [this] { drain(); });
  readable_->wait();
  return {};
}

/// Watches the file that has the name now. It may be missing: its creation is an event, too.
std::expected<void, std::string> file_watch::watch_file() {
  const int watch = ::inotify_add_watch(events_.get(), path_.c_str(), file_events);
  if (watch < 0 && errno != ENOENT) return cannot_watch(path_, errno);
  if (file_watch_ >= 0 && file_watch_ != watch) {
    // Fails if the file was deleted: its watch is gone then.
    ::inotify_rm_watch(events_.get(), file_watch_);
  }
  file_watch_ = watch;
  // Without this watch, the list of members is read only when something else changes.
  members_watch_ = ::inotify_add_watch(events_.get(), members_directory(path_).c_str(),
                                       members_events | IN_ONLYDIR | IN_DONT_FOLLOW);
  return {};
}

/// Reads all pending events, and reports them once.
void file_watch::drain() {
  alignas(inotify_event) std::array<char, event_buffer_size> buffer;
  bool changed = false;
  bool replaced = false;
  bool gone = false;
  for (;;) {
    const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
    if (size <= 0) break;
    const std::size_t end = static_cast<std::size_t>(size);
    for (std::size_t at = 0; at + sizeof(inotify_event) <= end;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = event.len > 0 ? buffer.data() + at + sizeof event : "";
      if (concerns_us(event.mask, event.wd, name)) {
        changed = true;
        gone = gone || (event.wd == directory_watch_ && (event.mask & directory_gone) != 0);
        const bool of_members = event.wd == members_watch_ && event.wd >= 0;
        replaced =
            replaced || (event.wd != file_watch_ && !of_members) || (event.mask & IN_IGNORED) != 0;
      }
      at += sizeof event + event.len;
    }
  }
  // First the watch, then the look that it asks for: no change falls between the two.
  std::string why;
  if (gone) why = "the directory " + parts_.directory + " was moved or deleted";
  if (replaced && !gone) {
    if (auto watched = watch_file(); !watched) why = watched.error();
  }
  if (!why.empty()) {
    const auto broken = broken_;  // it may destroy this object
    return broken(why);
  }
  readable_->wait();
  if (changed) changed_();
}

bool file_watch::concerns_us(std::uint32_t mask, int watch, const char* name) const {
  // Any events may have been lost.
  if ((mask & IN_Q_OVERFLOW) != 0) return true;
  if (watch == members_watch_ && watch >= 0) return *name != '.';
  if (watch != directory_watch_ || *name == '\0') return true;
  if (members_directory(parts_.name) == name) return true;
  for (const char* suffix : file_set::suffixes) {
    if (parts_.name + suffix == name) return true;
  }
  return false;
}

}  // namespace tenure::stores::sqlite
