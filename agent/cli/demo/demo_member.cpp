#include "cli/demo/demo_member.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

#include "base/number_text.hpp"
#include "cli/client/ask.hpp"
#include "cli/demo/demo_child.hpp"

namespace tenure::cli {
namespace {

constexpr core::duration answer_patience = std::chrono::seconds(1);

}  // namespace

demo_member::demo_member(std::string name, const std::filesystem::path& folder,
                         const std::string& ttl, const std::vector<std::string>& store)
    : name_(std::move(name)), log_(folder / (name_ + ".log")), socket_(folder / (name_ + ".sock")) {
  std::vector<std::string> words{
      "tenure", "exec",     "--election",  "demo",           "--identity", name_,      "--ttl",
      ttl,      "--listen", "127.0.0.1:0", "--probe-listen", "off",        "--socket", socket_};
  words.insert(words.end(), store.begin(), store.end());
  words.insert(words.end(),
               {"--", std::filesystem::read_symlink("/proc/self/exe"), "demo-worker", folder});
  guard_ = ::fork();
  // If the demo itself is killed, its members end in order.
  if (guard_ == 0) become("/proc/self/exe", words, log_, SIGTERM);
}

demo_member::~demo_member() {
  pull_the_plug();
}

std::vector<pid_t> demo_member::children() const {
  const std::string pid = std::to_string(guard_);
  std::ifstream list("/proc/" + pid + "/task/" + pid + "/children");
  std::vector<pid_t> out;
  for (pid_t child = 0; list >> child;) out.push_back(child);
  return out;
}

std::optional<pid_t> demo_member::agent() const {
  const auto said = said_when_listening("pid");
  const auto pid = base::read_number<pid_t>(said.value_or(""));
  // A process that was another agent's has another parent.
  const std::vector<pid_t> running = children();
  return pid && std::ranges::find(running, *pid) != running.end() ? pid : std::nullopt;
}

void demo_member::pull_the_plug() {
  if (guard_ <= 0) return;
  // Stop the guard first: otherwise it sees the others die and acts.
  ::kill(guard_, SIGSTOP);
  for (const pid_t child : children()) ::kill(child, SIGKILL);
  ::kill(guard_, SIGKILL);
  ::waitpid(guard_, nullptr, 0);
  guard_ = -1;
  frozen_.reset();
}

void demo_member::ask_to_end() const {
  if (guard_ > 0) ::kill(guard_, SIGTERM);
}

void demo_member::freeze_agent() {
  frozen_ = agent();
  if (frozen_) ::kill(*frozen_, SIGSTOP);
}

void demo_member::thaw_agent() {
  if (frozen_) ::kill(*frozen_, SIGCONT);
  frozen_.reset();
}

bool demo_member::has_ended() {
  if (guard_ > 0 && ::waitpid(guard_, nullptr, WNOHANG) == guard_) guard_ = -1;
  return guard_ <= 0;
}

std::optional<std::string> demo_member::api_address() const {
  return said_when_listening("api");
}

std::optional<std::string> demo_member::said_when_listening(const std::string& key) const {
  std::ifstream file(log_);
  std::optional<std::string> found;
  const std::string before = " " + key + "=";
  // The last match counts: a restarted member appends to its log.
  for (std::string line; std::getline(file, line);) {
    if (line.find("msg=listening") == std::string::npos) continue;
    const auto at = line.find(before);
    if (at == std::string::npos) continue;
    const auto begin = at + before.size();
    found = line.substr(begin, line.find(' ', begin) - begin);
  }
  return found;
}

std::string demo_member::get(const std::string& path) const {
  const auto address = api_address();
  if (!address) return {};
  const auto server = settings::parse_endpoint("http://" + *address, 0);
  if (!server) return {};
  const auto reply = ask(*server, {.method = "GET", .target = path}, answer_patience);
  return reply ? reply->body : std::string{};
}

}  // namespace tenure::cli
