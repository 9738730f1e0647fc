#include "cli/demo/demo_child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace tenure::cli {

void become(const std::string& program, const std::vector<std::string>& words,
            const std::filesystem::path& log, int end) {
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int in = ::open("/dev/null", O_RDONLY);
  if (in < 0 || out < 0) ::_exit(127);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, end);
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  ::execvp(program.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace tenure::cli
