#include "workload/run_record.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/boot_time.hpp"
#include "base/number_text.hpp"
#include "base/trusted_open.hpp"
#include "base/unique_fd.hpp"
#include "guard/guard_protocol.hpp"
#include "guard/orphans.hpp"
#include "process/process_scan.hpp"

namespace tenure::workload {
namespace {

constexpr std::string_view first_line = "tenure run 1";
constexpr std::string_view last_line = "end";
/// More than 20 hierarchies of cgroups of version 1.
constexpr std::size_t most_bytes = 16 * 1024;

/// The namespace of process ids: the kernel uses its number again only when nobody is left in it.
std::uint64_t process_namespace() {
  struct stat about{};
  return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

/// A run as its record has it: lines of "NAME VALUE", then the guard's cgroups.
struct run {
  std::string boot;
  std::uint64_t processes = 0;  ///< the PID namespace
  pid_t guard = 0;
  std::uint64_t guard_start = 0;  ///< ticks since boot
  std::string session{};
  std::string member;
  std::string cgroups{};

  [[nodiscard]] std::string text() const {
    std::ostringstream out;
    out << first_line << "\nboot " << boot << "\nprocesses " << processes << "\nguard " << guard
        << ' ' << guard_start << "\nsession " << session << "\nmember " << member << '\n'
        << cgroups << last_line << '\n';
    return std::move(out).str();
  }

  /// Nothing if it is not whole, or of another release.
  static std::optional<run> parse(const std::string& text) {
    std::istringstream in(text);
    run out;
    std::string line;
    const auto value = [&](std::string_view name) {
      const bool is = std::getline(in, line) && line.starts_with(name) &&
                      line.substr(name.size()).starts_with(' ');
      return is ? line.substr(name.size() + 1) : std::string();
    };
    if (!std::getline(in, line) || line != first_line) return std::nullopt;
    out.boot = value("boot");
    std::istringstream(value("processes")) >> out.processes;
    std::istringstream(value("guard")) >> out.guard >> out.guard_start;
    out.session = value("session");
    out.member = value("member");
    while (std::getline(in, line) && line != last_line) out.cgroups += line + '\n';
    const bool whole = line == last_line && !out.boot.empty() && out.processes != 0 &&
                       out.guard > 0 && out.guard_start != 0 && !out.session.empty();
    return whole ? std::optional(std::move(out)) : std::nullopt;
  }

  /// True if its ids are those of processes that we see.
  [[nodiscard]] bool is_visible_to(const run& us) const {
    return boot == us.boot && processes == us.processes;
  }
  [[nodiscard]] bool has_guard_of(const run& us) const {
    return is_visible_to(us) && guard == us.guard && guard_start == us.guard_start;
  }
};

/// Ours, before it has a session. Nothing if /proc does not tell.
std::optional<run> this_run(const std::string& member) {
  process::process_scan processes;
  if (!process::proc_is_ours() || base::boot_id_is_replaced() || !processes.open()) {
    return std::nullopt;
  }
  const auto guard = processes.look_up(::getppid());
  auto cgroups = guard ? guard::cgroups_of(guard->pid) : std::unexpected(ESRCH);
  run out{.boot = base::boot_id(), .processes = process_namespace(), .member = member};
  if (!cgroups || out.boot.empty() || out.processes == 0) return std::nullopt;
  out.guard = guard->pid;
  out.guard_start = guard->start;
  out.cgroups = std::move(*cgroups);
  if (!out.cgroups.ends_with('\n')) out.cgroups += '\n';
  return out;
}

/// Precondition: visible. False too if /proc cannot be read now.
bool is_dead(const run& one) {
  process::process_scan processes;
  if (!processes.open()) return false;
  int error = 0;
  const auto guard = processes.look_up(one.guard, error);
  return guard ? guard->start != one.guard_start || guard->dead() : process::is_gone(error);
}

std::string read_all(const base::unique_fd& file) {
  std::string out(most_bytes, '\0');
  const ssize_t got = ::pread(file.get(), out.data(), out.size(), 0);
  out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return out;
}

/// One file. The agent that has it open locks it, so only one agent at a time does anything with
/// it: an agent of a run that was killed holds no lock any more.
class run_file final : public run_record {
 public:
  run_file(base::unique_fd directory, std::string name, base::unique_fd file, run us)
      : directory_(std::move(directory)),
        name_(std::move(name)),
        file_(std::move(file)),
        us_(std::move(us)) {}

  /// Nothing, or why it cannot be used.
  [[nodiscard]] std::optional<no_record> take() {
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      // Somebody looks at it just now, perhaps for long. It must not outlive us without our lock.
      const auto found = run::parse(read_all(file_));
      if (!found || !found->has_guard_of(us_)) return no_record::in_use;
      erase();
      return no_record::unusable;
    }
    struct stat opened{};
    struct stat named{};
    const bool is_named = ::fstat(file_.get(), &opened) == 0 &&
                          ::fstatat(directory_.get(), name_.c_str(), &named, 0) == 0 &&
                          opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
    if (!is_named) return no_record::in_use;
    const auto found = run::parse(read_all(file_));
    if (!found || found->boot != us_.boot || found->has_guard_of(us_)) return std::nullopt;
    if (!found->is_visible_to(us_)) return no_record::unusable;
    if (!is_dead(*found)) return no_record::in_use;
    if (found->member != us_.member) return std::nullopt;
    before_.emplace(found->session, std::make_unique<guard::orphans>(guard::dead_guard{
                                        .mark = guard::mark_of_session(found->session),
                                        .cgroups = found->cgroups,
                                        .start = found->guard_start}));
    return std::nullopt;
  }

  [[nodiscard]] killed_run* before() override { return before_ ? &*before_ : nullptr; }

  [[nodiscard]] bool keep(const std::string& session) override {
    if (!file_) return false;
    us_.session = session;
    const std::string text = us_.text();
    const auto size = static_cast<ssize_t>(text.size());
    const bool kept = text.size() <= most_bytes &&
                      ::pwrite(file_.get(), text.data(), text.size(), 0) == size &&
                      ::ftruncate(file_.get(), size) == 0;
    if (!kept) erase();
    return kept;
  }

  void erase() override {
    if (file_) ::unlinkat(directory_.get(), name_.c_str(), 0);
    file_.reset();
  }

 private:
  base::unique_fd directory_;
  std::string name_;
  base::unique_fd file_;
  run us_;
  std::optional<killed_run> before_;
};

}  // namespace

std::expected<std::unique_ptr<run_record>, no_record> open_run_record(const std::string& directory,
                                                                      const std::string& member) {
  auto us = this_run(member);
  if (!us) return std::unexpected(no_record::unusable);
  auto in = base::make_own_directory(directory);
  if (!in) return std::unexpected(no_record::unusable);
  // Members have names that no file can have. Two with the same number only share a record.
  const std::string name = base::hex(std::hash<std::string>{}(us->member)) + ".run";
  auto file = base::open_own_file(in->get(), name, O_RDWR | O_CREAT);
  if (!file) return std::unexpected(no_record::unusable);
  auto out = std::make_unique<run_file>(std::move(*in), name, std::move(*file), std::move(*us));
  if (const auto why = out->take()) return std::unexpected(*why);
  return out;
}

}  // namespace tenure::workload
