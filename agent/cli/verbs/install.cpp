#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/error_text.hpp"
#include "base/printable_text.hpp"
#include "base/program_copy.hpp"
#include "cli/client/json_codec.hpp"
#include "cli/text/print.hpp"
#include "cli/verbs.hpp"
#include "cli/version.hpp"
#include "guard/meeting_place.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {

int run_install(const invocation& what) {
  const std::string directory = what.value("DIR").value_or("");
  const base::unique_fd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (!self) {
    print_failure(what.verb, "cannot read this program at /proc/self/exe: " +
                                 base::error_text(errno) + "; is /proc mounted?");
    return runtime::exit_failed;
  }
  const std::string name = "tenure";
  const auto done = base::copy_program(self, directory, name);
  if (!done) {
    print_failure(what.verb, done.error());
    return runtime::exit_failed;
  }
  if (const auto place = what.value("--guard-dir")) {
    if (const auto made = guard::make_meeting_place(*place); !made) {
      print_failure(what.verb, made.error());
      return runtime::exit_failed;
    }
  }
  const std::string path = std::filesystem::path(directory) / name;
  const bool is_new = *done == base::copied::written;
  if (what.output == output_form::json) {
    std::puts(install_json(path, is_new, facts_of_build()).c_str());
  } else {
    std::puts(base::printable(path + (is_new ? ": installed " + version_line()
                                             : " is this program already; nothing is written"))
                  .c_str());
  }
  return runtime::exit_ok;
}

}  // namespace tenure::cli
