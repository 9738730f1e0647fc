#include "guard/target_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/error_text.hpp"
#include "base/printable_text.hpp"
#include "process/proc_text.hpp"

namespace tenure::guard {
namespace {

/// The machine's own PID namespace: the kernel's constant PROC_PID_INIT_INO.
constexpr ino_t first_pid_namespace = 0xEFFFFFFC;

constexpr std::size_t most_command_shown = 80;

std::unexpected<target_problem> problem(target_fault kind, std::string text) {
  return std::unexpected(target_problem{.kind = kind, .text = std::move(text)});
}

/// "target_command_line "python3 main.py"".
std::string setting_of(const settings::target& what) {
  std::string name = "target_" + std::string(noun(what.by));
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name + " \"" + what.value + "\"";
}

/// Its arguments, or else its name in brackets, like ps.
std::string command_of(pid_t pid) {
  std::array<char, most_command_shown + 1> room{};
  std::string out(process::read_proc(pid, "cmdline", room).value_or(""));
  if (out.empty()) {
    out = process::read_proc(pid, "comm", room).value_or("?");
    out = "[" + out.substr(0, out.find('\n')) + "]";
  }
  while (!out.empty() && out.back() == '\0') out.pop_back();
  std::ranges::replace(out, '\0', ' ');
  return base::printable(out, most_command_shown);
}

std::string named(pid_t pid) {
  return "process " + std::to_string(pid) + " (" + command_of(pid) + ")";
}

/// Its effective user id as text; "unknown" if the kernel does not tell.
std::string user_of(pid_t pid) {
  const auto users = process::users_of(pid);
  return users ? std::to_string(users->effective) : "unknown";
}

bool in_first_pid_namespace() {
  struct stat about{};
  return ::stat("/proc/self/ns/pid", &about) == 0 && about.st_ino == first_pid_namespace;
}

std::string why(const process::member& one, const settings::target& what) {
  if (one.matches) {
    switch (what.by) {
      case settings::target::kind::executable:
        return "its executable is " + what.value;
      case settings::target::kind::command_line:
        return "its command line begins with \"" + what.value + "\"";
      case settings::target::kind::pid_file:
        return "its number is in " + what.value;
    }
  }
  switch (one.why) {
    case process::bond::match:
    case process::bond::container:
      return "it is in the container of a target process";
    case process::bond::descendant:
      return "it descends from a target process";
    case process::bond::session:
      return "it is in the session of a target process";
  }
  return {};
}

/// Finds processes that the target names but must not, or that cannot be recognized. Lives for one
/// call.
class inspection {
 public:
  explicit inspection(const foreign_processes& workload)
      : workload_(workload), what_(workload.recognizes().what()) {
    recognizer_->prepare(what_);
  }

  std::optional<target_problem> run() {
    if (!processes_.open() || !own_->refresh(processes_)) {
      return target_problem{target_fault::proc_unusable,
                            "/proc does not show this process and its ancestors any more"};
    }
    if (auto wrong = file_problem()) return wrong;
    while (const auto one = processes_.next()) {
      if (one->dead()) continue;
      const recognition is_it = recognizer_->of(*one);
      if (is_it == recognition::no) continue;
      const process::kin relation = kin_of(*one);
      if (relation != process::kin::stranger) {
        if (is_it == recognition::yes) return refusal(*one, relation);
      } else if (is_it == recognition::unreadable && !belongs(*one)) {
        return riddle(*one);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string container_of_process(const process::member& one) {
    if (!own_->cgroups_tell()) return {};
    const pid_t thread = process::living_thread({.pid = one.pid, .state = one.state});
    const auto cgroups = process::read_proc(thread, "cgroup", room_);
    if (!cgroups) return {};
    return std::string(
        process::short_name(process::container_of(*cgroups, own_->cgroups()).container));
  }

 private:
  std::optional<target_problem> file_problem() {
    const std::string file = "the pid file " + what_.value;
    switch (recognizer_->file()) {
      case pid_file_state::unreadable:
        return target_problem{target_fault::pid_file_unreadable,
                              base::text(file, recognizer_->flaw()) +
                                  "; mount its volume into both containers, and let the program "
                                  "write a regular file that our user may read. If it runs as "
                                  "another user than ours and root, give target_uid"};
      case pid_file_state::malformed:
        return target_problem{target_fault::pid_file_malformed,
                              file +
                                  " does not begin with a process id; name the file that the "
                                  "program writes its own number to"};
      default:
        return std::nullopt;
    }
  }

  process::kin kin_of(const process::process_stat& one) {
    return own_->of(one,
                    process::read_proc(process::living_thread(one), "cgroup", room_).value_or(""),
                    processes_);
  }

  [[nodiscard]] bool belongs(const process::process_stat& one) const {
    for (const process::member& other : workload_.members()) {
      if (other.pid == one.pid && other.start == one.start) return true;
    }
    return false;
  }

  [[nodiscard]] target_problem refusal(const process::process_stat& one,
                                       process::kin relation) const {
    const std::string names = setting_of(what_) + " names " + named(one.pid);
    if (relation == process::kin::first_process) {
      const bool by_file = what_.by == settings::target::kind::pid_file;
      return {target_fault::first_process,
              names +
                  ", the first process of the PID namespace: a pod's pause process, which nobody "
                  "in the pod can end; " +
                  (by_file ? "let the program write its number as seen in the shared namespace "
                             "(shareProcessNamespace: true), and remove the old file"
                           : "name the main container's own program")};
    }
    return {target_fault::too_wide,
            names + ", which is " +
                (relation == process::kin::ourselves    ? "this one"
                 : relation == process::kin::ancestor   ? "an ancestor of this one"
                 : relation == process::kin::descendant ? "a child of this one"
                                                        : "in our own container") +
                "; name what only the main container runs, e.g. more of its command line"};
  }

  [[nodiscard]] target_problem riddle(const process::process_stat& one) const {
    const auto users = process::users_of(one.pid);
    if (users && !base::is_trusted_user(users->real, what_.uid) &&
        (what_.by != settings::target::kind::executable || ::geteuid() == 0)) {
      const std::string theirs = std::to_string(users->real);
      return {target_fault::other_user,
              setting_of(what_) + " names " + named(one.pid) + ", which runs as user " + theirs +
                  ", neither ours (" + std::to_string(::geteuid()) +
                  ") nor root: anybody can give a process that name; if it is the workload, give "
                  "target_uid " +
                  theirs + ", and if not, the user that the workload runs as"};
    }
    if (what_.by == settings::target::kind::pid_file) {
      return {target_fault::pid_file_stale,
              "the pid file " + what_.value + " names " + named(one.pid) +
                  ", which began after the file was written: the number was given to another "
                  "process, or the clock was set; remove the file, or restart the program"};
    }
    if (what_.by == settings::target::kind::command_line) {
      return {target_fault::unreadable, "cannot read the command line of " + named(one.pid) +
                                            ", which hangs in the kernel (state D); see what it "
                                            "waits for"};
    }
    return {target_fault::unreadable,
            "cannot read which program " + named(one.pid) + " executes: it runs as user " +
                user_of(one.pid) + ", we as user " + std::to_string(::geteuid()) +
                ", or it has capabilities that we lack; run it as our user without them, or give "
                "target_command_line, which can be read of every process"};
  }

  const foreign_processes& workload_;
  const settings::target& what_;
  // On the heap: with their buffers they are larger than a stack frame should be.
  std::unique_ptr<recognizer> recognizer_ = std::make_unique<recognizer>(reader_that_waits());
  std::unique_ptr<process::own_processes> own_ = std::make_unique<process::own_processes>();
  process::process_scan processes_;
  std::array<char, process::most_cgroup_bytes> room_{};
};

/// Why we may not signal it; nothing if we may.
std::optional<target_problem> denial(pid_t pid) {
  if (::kill(pid, 0) == 0 || errno == ESRCH) return std::nullopt;
  const std::string ours = std::to_string(::geteuid());
  std::string text = "may not signal " + named(pid) + ", so it could not be stopped: ";
  const std::string theirs = user_of(pid);
  if (errno == EPERM && theirs != ours) {
    text += "it runs as user " + theirs + ", we as user " + ours +
            "; give both containers the same runAsUser";
  } else {
    text += base::error_text(errno) +
            "; give both containers the same security profile (AppArmor, SELinux) and user";
  }
  return target_problem{target_fault::not_permitted, std::move(text)};
}

}  // namespace

std::expected<void, target_problem> prepare_target(foreign_processes& workload,
                                                   const settings::target& what) {
  if (what.value.empty() || what.value.size() > most_target_bytes) {
    return problem(target_fault::no_target,
                   "no setting says which processes are the workload; set target_executable, "
                   "target_command_line or target_pid_file, of 1 to " +
                       std::to_string(most_target_bytes) + " bytes");
  }
  process::process_scan processes;
  if (!processes.open()) {
    return problem(target_fault::proc_unusable,
                   "/proc is not mounted, or is that of another PID namespace; mount the proc file "
                   "system of this container there");
  }
  if (!processes.look_up(1)) {
    return problem(target_fault::hidden,
                   "/proc does not show process 1 to user " + std::to_string(::geteuid()) +
                       ", so it hides those of other users; mount it without hidepid");
  }
  if (const int error = workload.prepare(what); error != 0) {
    return problem(target_fault::system,
                   "cannot watch the processes of this PID namespace: " + base::error_text(error) +
                       "; check the limits on open files");
  }
  if (workload.sees_only_ours() && !in_first_pid_namespace()) {
    return problem(target_fault::not_shared,
                   "only the processes of our own container are in our PID namespace; set "
                   "shareProcessNamespace: true in the pod");
  }
  return {};
}

std::string text(const found_process& one) {
  std::string out = "process " + std::to_string(one.pid) + " (" + one.command + ")";
  if (!one.container.empty()) out += " in container " + one.container;
  return out + ": " + one.why;
}

std::expected<std::vector<found_process>, target_problem> survey(foreign_processes& workload) {
  workload.look();
  inspection inspected(workload);
  if (auto wrong = inspected.run()) return std::unexpected(std::move(*wrong));
  std::vector<found_process> out;
  for (const process::member& one : workload.members()) {
    if (one.gone()) continue;
    if (auto wrong = denial(one.pid)) return std::unexpected(std::move(*wrong));
    out.push_back({.pid = one.pid,
                   .command = command_of(one.pid),
                   .container = inspected.container_of_process(one),
                   .why = why(one, workload.recognizes().what())});
  }
  return out;
}

}  // namespace tenure::guard
