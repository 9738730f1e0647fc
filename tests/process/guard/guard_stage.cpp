// The program that the tests of the guard run.
//
//     guard_stage guard -- CMD...   the guard, as in `tenure exec`
//     guard_stage agent             a scripted agent; the guard starts it
//     guard_stage allocate          shows that the malloc trap works
//     guard_stage open-files        a workload: prints its open descriptors

#include <dirent.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "guard/guard_process.hpp"
#include "log/standard_streams.hpp"
#include "malloc_trap.hpp"
#include "scripted_agent.hpp"
#include "stage.hpp"

namespace {

int be_guard(int argc, char** argv) {
  tenure::guard::guard_options options;
  options.agents = tenure::guard::agent_argv{"guard_stage", "agent"};
  options.command.assign(argv + 3, argv + argc);
  options.after_exit_grace = tenure::tests::grace_of_the_stage;
  options.ready = tenure::tests::allow_no_allocation;
  return tenure::guard::run_guard(options);
}

int allocate() {
  tenure::tests::allow_no_allocation();
  void* volatile some = std::malloc(1);
  std::free(some);
  return 0;
}

int print_open_files() {
  DIR* listing = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(listing)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == ::dirfd(listing)) continue;
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    const char* page = std::getenv("TENURE_PAGE");
    std::puts(page != nullptr && path == page ? "page" : std::to_string(fd).c_str());
  }
  ::closedir(listing);
  std::puts("end");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  tenure::log::reserve_standard_streams();
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "guard" && argc > 3) return be_guard(argc, argv);
  if (role == "agent") return tenure::tests::be_scripted_agent();
  if (role == "allocate") return allocate();
  if (role == "open-files") return print_open_files();
  std::fputs("usage: see guard_stage.cpp\n", stderr);
  return 64;
}
