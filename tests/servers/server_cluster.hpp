#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "servers/server_process.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::servers {

/// A server to test against.
struct server_release {
  std::string name;    ///< fit for the name of a test: "debian", "today"
  std::string binary;  ///< empty: this machine has none
  std::string why;     ///< then: what to do about it, for GTEST_SKIP()
};

/// The name alone, in what GoogleTest prints.
void PrintTo(const server_release& release, std::ostream* out);

/// `program` in that folder of build/servers, unless the environment's `variable` names another.
/// `advice`: how it gets there.
server_release find_release(const std::string& name, const std::string& program,
                            const std::string& folder, const char* variable, const char* advice);

/// A look asks a member; asked without a pause it would keep it from getting ready.
inline constexpr std::chrono::milliseconds between_looks{20};

/// Processes of one kind of server on free loopback ports, with a directory of their own. Prints
/// the end of every member's log if the test has failed when it goes.
///
/// Not thread-safe. Its members die with the thread that made it.
class server_cluster {
 public:
  virtual ~server_cluster();
  server_cluster(const server_cluster&) = delete;
  server_cluster& operator=(const server_cluster&) = delete;

  [[nodiscard]] std::size_t size() const { return members_.size(); }

  /// SIGKILL
  void kill(std::size_t member);
  /// SIGTERM, and its end.
  void stop(std::size_t member);
  /// SIGTERM alone. It counts as one that runs until `stop` or `kill`.
  void ask_to_end(std::size_t member);
  /// SIGSTOP: connections stay open, nothing answers.
  void freeze(std::size_t member);
  /// SIGCONT
  void thaw(std::size_t member);
  /// Starts one that was killed or stopped, on its ports and data. Does not wait.
  void start(std::size_t member);

  /// "http://127.0.0.1:20123", or https.
  [[nodiscard]] virtual std::string endpoint(std::size_t member) const = 0;
  [[nodiscard]] std::vector<std::string> endpoints() const;

  /// Has a leader and answers, by its own word.
  [[nodiscard]] virtual bool healthy(std::size_t member) const = 0;
  /// Waits until every member that runs is healthy; fails the test if patience ends first.
  void wait_until_healthy();

  /// Where a member keeps its data; not to be touched while it runs.
  [[nodiscard]] std::filesystem::path data_of(std::size_t member) const {
    return folder() / name_of(member);
  }

  /// The last lines of a member's log.
  [[nodiscard]] std::string log_tail(std::size_t member) const;

 protected:
  /// `ports`: how many each member listens on.
  server_cluster(std::string binary, std::size_t members, std::size_t ports);

  /// Starts all and waits until they are healthy; fails the test if patience ends first.
  void boot();

  [[nodiscard]] virtual std::vector<std::string> command(std::size_t member) const = 0;

  /// "m0"
  [[nodiscard]] const std::string& name_of(std::size_t member) const {
    return members_.at(member).name;
  }
  [[nodiscard]] std::uint16_t port_of(std::size_t member, std::size_t which) const {
    return members_.at(member).ports.at(which);
  }
  /// False if it was killed or stopped.
  [[nodiscard]] bool started(std::size_t member) const {
    return members_.at(member).process != nullptr;
  }
  server_process& running(std::size_t member);
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }

 private:
  struct member {
    std::string name;
    std::vector<std::uint16_t> ports;
    std::unique_ptr<server_process> process;
  };

  void draw_ports();
  bool start_all();
  [[nodiscard]] std::filesystem::path log_of(const member& one) const;

  std::string binary_;
  tests::temporary_directory folder_;
  std::vector<member> members_;
};

}  // namespace tenure::servers
