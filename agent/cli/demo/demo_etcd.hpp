#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenure::cli {

/// Three etcd servers for the demo, on free ports of 127.0.0.1, with their data in the demo's
/// folder. They end with the demo.
class demo_etcd {
 public:
  /// `binary`: a path, or a name to look up in PATH.
  demo_etcd(std::string binary, std::filesystem::path folder);
  ~demo_etcd();
  demo_etcd(const demo_etcd&) = delete;
  demo_etcd& operator=(const demo_etcd&) = delete;

  /// Starts the servers; they need a moment to elect a leader. The error says what is missing.
  std::expected<void, std::string> start();

  /// The name of the leading server; nothing while there is none.
  [[nodiscard]] std::optional<std::string> leader() const;

  /// Sends SIGKILL to one server.
  void kill(const std::string& member);
  /// Restarts it with its data.
  void start_again(const std::string& member);

  /// "http://127.0.0.1:20123" of each.
  [[nodiscard]] std::vector<std::string> endpoints() const;

 private:
  struct server {
    std::string name;
    std::uint16_t client_port = 0;
    std::uint16_t peer_port = 0;
    pid_t process = -1;
  };

  void launch(server& one) const;
  [[nodiscard]] server& named(const std::string& member);

  std::string binary_;
  std::filesystem::path folder_;
  std::vector<server> servers_;
};

}  // namespace tenure::cli
