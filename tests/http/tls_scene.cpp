#include "tls_scene.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace tenure::tests {
namespace {

namespace fs = std::filesystem;

const std::string programs = HTTP_TEST_PROGRAMS;

struct program {
  int pid = -1;
  int input = -1;
  int output = -1;
};

program start(std::vector<std::string> words, const std::string& folder) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
  ::posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, (folder + "/errors").c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  program made{.input = in[1], .output = out[0]};
  EXPECT_EQ(::posix_spawnp(&made.pid, arguments[0], &files, nullptr, arguments.data(), environ), 0)
      << words[0];
  ::posix_spawn_file_actions_destroy(&files);
  ::close(in[0]);
  ::close(out[1]);
  return made;
}

/// The first line, or all there is.
std::string line_from(int fd) {
  std::string line;
  for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace

std::string certificate(const std::string& file) {
  static const std::unique_ptr<place> made = [] {
    auto where = std::make_unique<place>();
    const program run = start({"sh", programs + "/certificates.sh"}, where->file("."));
    ::close(run.input);
    int status = 0;
    ::waitpid(run.pid, &status, 0);
    ::close(run.output);
    EXPECT_EQ(status, 0) << "certificates.sh failed; what it said is in " << where->file("errors");
    return where;
  }();
  return made->file(file);
}

place::place() {
  std::string pattern = fs::temp_directory_path() / "tenure-net-XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  path_ = pattern;
}

place::~place() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string place::put(const std::string& name, const std::string& copy_of) const {
  fs::copy_file(copy_of, file(name + ".new"), fs::copy_options::overwrite_existing);
  fs::rename(file(name + ".new"), file(name));
  return file(name);
}

tls_server::tls_server(const std::string& name, std::vector<std::string> options,
                       std::uint16_t port) {
  std::vector<std::string> words{"python3", programs + "/tls_server.py", certificate(name + ".pem"),
                                 certificate(name + ".key"), std::to_string(port)};
  words.insert(words.end(), options.begin(), options.end());
  const program run = start(words, certificate("."));
  pid_ = run.pid;
  input_ = run.input;
  const std::string said = line_from(run.output);
  ::close(run.output);
  EXPECT_FALSE(said.empty()) << "tls_server.py failed to start";
  if (!said.empty()) port_ = static_cast<std::uint16_t>(std::stoul(said));
}

tls_server::~tls_server() {
  ::close(input_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
}

}  // namespace tenure::tests
