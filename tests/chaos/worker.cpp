// A workload under chaos: it stamps the clock into files for as long as anything of it lives, and
// knows only the version of its term. It also writes down until when its page allows it to run.
//   chaos_worker FOLDER IDENTITY KIND
//     obedient   ends on SIGTERM
//     deaf       ignores every signal that can be ignored
//     daemons    leaves two daemons in sessions of their own that stamp, too; one of them is deaf
//     asking     deaf, and asks its page before each stamp
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "guard/tenure_page.h"
#include "process/exec/stamp_page.hpp"
#include "support/boot_clock.hpp"

namespace {

using tenure::tests::boot_nanoseconds;
using tenure::tests::stamp_page;

constexpr int exit_usage = 64;
constexpr int exit_no_file = 65;
constexpr timespec between_stamps{.tv_sec = 0, .tv_nsec = 1'000'000};

void turn_deaf() {
  for (const int signo : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::signal(signo, SIG_IGN);
}

/// What one process of the workload leaves behind: IDENTITY.VERSION.LIFE.START.run. A life is all
/// processes of one start; the instant of that start names it, as process ids are used again.
class stamps {
 public:
  /// `lease`: what the page of the workload says; null: there is none.
  stamps(const std::string& life, std::uint64_t version, const tenure_page* lease) : lease_(lease) {
    const std::string path = life + "." + std::to_string(boot_nanoseconds()) + ".run";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(stamp_page)) != 0) ::_exit(exit_no_file);
    void* memory = ::mmap(nullptr, sizeof(stamp_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) ::_exit(exit_no_file);
    page_ = static_cast<stamp_page*>(memory);
    page_->version = version;
  }

  /// `now` was read before this call, and so before the page: the page never says less of that
  /// instant than is written here.
  void stamp(std::int64_t now) {
    tenure_term term{};
    if (tenure_read(lease_, &term) != 0 && term.stop_at > page_->stop_at) {
      std::atomic_ref(page_->stop_at).store(term.stop_at);
    }
    if (page_->first == 0) page_->first = now;
    std::atomic_ref(page_->last).store(now);
  }

 private:
  const tenure_page* lease_;
  stamp_page* page_;
};

[[noreturn]] void stamp_for_ever(stamps to, std::int64_t first) {
  to.stamp(first);
  while (true) {
    to.stamp(boot_nanoseconds());
    ::nanosleep(&between_stamps, nullptr);
  }
}

/// The clock is read before the question: what is stamped is an instant of which the page has said
/// afterwards that it was ours. A pause between an answer and a write is what no page can cover.
[[noreturn]] void stamp_while_allowed(stamps to, const tenure_page* page) {
  while (true) {
    const std::int64_t now = boot_nanoseconds();
    // A no is final: the next term is another start.
    if (tenure_valid(page) == 0) break;
    to.stamp(now);
    ::nanosleep(&between_stamps, nullptr);
  }
  while (true) ::pause();
}

/// A grandchild in a session of its own, as daemons make themselves.
void leave_daemon(const std::string& life, std::uint64_t version, const tenure_page* lease,
                  bool deaf) {
  const pid_t child = ::fork();
  if (child != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  if (deaf) turn_deaf();
  stamp_for_ever(stamps(life, version, lease), boot_nanoseconds());
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t first = boot_nanoseconds();
  // `etcdctl lock` names the revision at which it got the lock, which grows likewise. `consul lock`
  // names nothing: this instant tells its starts apart.
  const std::string start = std::to_string(first);
  const char* version_text = std::getenv("TENURE_VERSION");
  if (version_text == nullptr) version_text = std::getenv("ETCD_LOCK_REV");
  if (version_text == nullptr && std::getenv("CONSUL_LOCK_HELD") != nullptr) {
    version_text = start.c_str();
  }
  if (argc != 4 || version_text == nullptr) return exit_usage;
  const std::string_view kind = argv[3];
  const std::uint64_t version = std::strtoull(version_text, nullptr, 10);
  const std::string life = std::string(argv[1]) + "/" + argv[2] + "." + version_text + "." + start;
  if (kind == "deaf" || kind == "asking") turn_deaf();
  // Mapped here, for the daemons, too.
  const tenure_page* lease = tenure_open();
  if (kind == "asking" && lease != nullptr) {
    stamp_while_allowed(stamps(life, version, lease), lease);
  }
  if (kind == "daemons") {
    leave_daemon(life, version, lease, false);
    leave_daemon(life, version, lease, true);
  }
  stamp_for_ever(stamps(life, version, lease), first);
}
