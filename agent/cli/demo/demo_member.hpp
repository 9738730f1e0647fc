#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenure::cli {

/// One agent of the demo: `tenure exec` with a worker, as a pod would run it.
class demo_member {
 public:
  /// Starts the member. Its log goes to `folder`/NAME.log, its worker's stamps into `folder`.
  /// `store`: the store options of its command line.
  demo_member(std::string name, const std::filesystem::path& folder, const std::string& ttl,
              const std::vector<std::string>& store);
  /// Kills what is left of the member.
  ~demo_member();
  demo_member(const demo_member&) = delete;
  demo_member& operator=(const demo_member&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Sends SIGKILL to guard, agent and worker at once: the node has lost power.
  void pull_the_plug();
  /// Sends SIGTERM to its first process, as the kubelet does. Returns at once.
  void ask_to_end() const;
  /// Sends SIGSTOP or SIGCONT to the agent only.
  void freeze_agent();
  void thaw_agent();

  /// True once its first process has ended; reaps that process.
  [[nodiscard]] bool has_ended();
  /// Where it accepts orders: the path of its Unix socket.
  [[nodiscard]] const std::filesystem::path& socket() const { return socket_; }
  /// "127.0.0.1:40123", once the agent's log says where it listens.
  [[nodiscard]] std::optional<std::string> api_address() const;
  /// The body of GET `path` on its API; empty if it does not answer.
  [[nodiscard]] std::string get(const std::string& path) const;

 private:
  [[nodiscard]] std::vector<pid_t> children() const;
  [[nodiscard]] std::optional<pid_t> agent() const;
  /// The value of `key` in the line in which its agent says where it listens; nothing before that.
  [[nodiscard]] std::optional<std::string> said_when_listening(const std::string& key) const;

  std::string name_;
  std::filesystem::path log_;
  std::filesystem::path socket_;
  pid_t guard_ = -1;
  std::optional<pid_t> frozen_;
};

}  // namespace tenure::cli
