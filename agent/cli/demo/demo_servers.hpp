#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenure::cli {

/// Three servers of a store for the demo, on free ports of 127.0.0.1, with their data in the demo's
/// folder. They end with the demo.
class demo_servers {
 public:
  virtual ~demo_servers();
  demo_servers(const demo_servers&) = delete;
  demo_servers& operator=(const demo_servers&) = delete;

  /// Starts the servers; they need a moment to elect a leader. The error says what is missing.
  std::expected<void, std::string> start();

  /// The name of the leading server; nothing while there is none.
  [[nodiscard]] std::optional<std::string> leader() const;

  /// Sends SIGKILL to one server.
  void kill(const std::string& member);
  /// Restarts it with its data.
  void start_again(const std::string& member);

  /// The store's name: "etcd".
  [[nodiscard]] const std::string& store() const { return store_; }

  /// "http://127.0.0.1:20123" of each.
  [[nodiscard]] std::vector<std::string> endpoints() const;

 protected:
  struct server {
    std::string name;
    std::vector<std::uint16_t> ports;  ///< the first is that of clients
    pid_t process = -1;
  };

  /// `binary`: a path, or a name to look up in PATH. `where_from`: how to install it.
  demo_servers(std::string store, std::string binary, std::string where_from,
               std::filesystem::path folder, std::size_t ports_each);

  [[nodiscard]] const std::string& binary() const { return binary_; }
  [[nodiscard]] std::filesystem::path data_of(const server& one) const {
    return folder_ / one.name;
  }
  [[nodiscard]] std::span<const server> servers() const { return servers_; }

  /// Where clients find it.
  [[nodiscard]] virtual std::string host_of(const server& /*one*/) const { return "127.0.0.1"; }
  [[nodiscard]] virtual std::vector<std::string> command(const server& one) const = 0;
  [[nodiscard]] virtual bool leads(const server& one) const = 0;

 private:
  void launch(server& one) const;
  [[nodiscard]] server& named(const std::string& member);

  std::string store_;
  std::string binary_;
  std::string where_from_;
  std::filesystem::path folder_;
  std::size_t ports_each_;
  std::vector<server> servers_;
};

std::unique_ptr<demo_servers> make_demo_etcd(std::string binary, std::filesystem::path folder);
std::unique_ptr<demo_servers> make_demo_consul(std::string binary, std::filesystem::path folder);

}  // namespace tenure::cli
