// A workload that knows only its environment: it writes the clock into a file, from its first
// instruction to its end.
//   stamper FOLDER [stubborn]     stubborn: ignores every signal that can be ignored
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "stamp_page.hpp"

namespace {

std::int64_t now() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t first = now();
  const char* identity = std::getenv("TENURE_IDENTITY");
  const char* version = std::getenv("TENURE_VERSION");
  if (argc < 2 || identity == nullptr || version == nullptr) return 64;
  if (argc > 2 && std::string_view(argv[2]) == "stubborn") {
    for (const int signo : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::signal(signo, SIG_IGN);
  }
  const std::string path = std::string(argv[1]) + "/" + identity + "." + version + "." +
                           std::to_string(::getpid()) + ".run";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  using page_type = tenure::tests::stamp_page;
  if (file < 0 || ::ftruncate(file, sizeof(page_type)) != 0) return 65;
  void* memory = ::mmap(nullptr, sizeof(page_type), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 66;
  auto* page = static_cast<page_type*>(memory);
  page->version = std::strtoull(version, nullptr, 10);
  page->first = first;
  const timespec pause{.tv_sec = 0, .tv_nsec = 200'000};
  while (true) {
    std::atomic_ref(page->last).store(now());
    ::nanosleep(&pause, nullptr);
  }
}
