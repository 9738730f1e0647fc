#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/boot_time.hpp"
#include "base/error_text.hpp"
#include "base/unique_fd.hpp"
#include "cli/demo/demo_record.hpp"
#include "cli/verbs.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {

/// `tenure demo-worker FOLDER`: knows of leases only what its environment says, and records that it
/// runs until something ends it.
int run_demo_worker(int argc, const char* const* argv) {
  const char* identity = std::getenv("TENURE_IDENTITY");
  const char* version = std::getenv("TENURE_VERSION");
  if (argc < 3 || identity == nullptr || version == nullptr) {
    std::fputs("tenure demo-worker: is started by tenure demo\n", stderr);
    return runtime::exit_bad_settings;
  }
  const std::string path = std::string(argv[2]) + "/" + identity + "." + version + "." +
                           std::to_string(::getpid()) + ".run";
  const base::unique_fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  void* memory = MAP_FAILED;
  if (file && ::ftruncate(file.get(), sizeof(run_page)) == 0) {
    memory = ::mmap(nullptr, sizeof(run_page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  }
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "tenure demo-worker: %s: %s\n", path.c_str(),
                 base::error_text(errno).c_str());
    return runtime::exit_failed;
  }
  auto* page = static_cast<run_page*>(memory);
  const auto stamp = [] { return base::boot_now().time_since_epoch().count(); };
  page->version = std::strtoll(version, nullptr, 10);
  std::atomic_ref(page->first_ns).store(stamp());
  const timespec pause{.tv_sec = 0, .tv_nsec = stamp_interval.count()};
  while (true) {
    std::atomic_ref(page->last_ns).store(stamp());
    ::clock_nanosleep(CLOCK_BOOTTIME, 0, &pause, nullptr);
  }
}

}  // namespace tenure::cli
