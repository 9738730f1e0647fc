#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenure::cli {

/// Three etcd servers of the demo's own, on free ports of 127.0.0.1, with their data in the demo's
/// folder. They end with it.
class demo_etcd {
 public:
  /// `binary`: a path, or a name to be looked up in PATH.
  demo_etcd(std::string binary, std::filesystem::path folder);
  ~demo_etcd();
  demo_etcd(const demo_etcd&) = delete;
  demo_etcd& operator=(const demo_etcd&) = delete;

  /// Starts them; they need a moment until they have a leader. The error says what is missing.
  std::expected<void, std::string> start();

  /// The name of the member that leads; nothing while none does.
  [[nodiscard]] std::optional<std::string> leader() const;

  /// SIGKILL to one member.
  void kill(const std::string& member);
  /// Starts it again, with its data.
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
