#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "http/scripted_server.hpp"

namespace tenure::tests {

/// A fake: an HTTP server that answers as the fake of a store does, and lies where a test tells it
/// to. The socket between it and the store is a real one.
class fake_http {
 public:
  /// Answers a request on its connection.
  using answer = std::function<void(peer& to, const std::string& request)>;
  /// The name of a request in a test.
  using namer = std::function<std::string(const std::string& request)>;

  /// `usual` answers what no test has told. Both are called on several threads at a time.
  explicit fake_http(answer usual, namer name_of);

  /// From now on requests of this name are answered by this; an empty one undoes it.
  void on(const std::string& name, answer how);
  /// The same with one body for all.
  void on(const std::string& name, const std::string& body);

  [[nodiscard]] std::string endpoint() const;
  /// Requests of this name so far.
  [[nodiscard]] int count(const std::string& name) const;

 private:
  void serve(peer& with);

  const answer usual_;
  const namer name_of_;
  mutable std::mutex mutex_;  ///< of what follows but the server
  std::map<std::string, answer> told_;
  std::map<std::string, int> count_;
  scripted_server server_;  ///< last: its threads use the rest
};

/// The parts of a request: its method; what is between that and the protocol; the same without the
/// query; its body.
std::string method_of(const std::string& request);
std::string target_of(const std::string& request);
std::string path_of(const std::string& request);
std::string body_in(const std::string& request);

/// A way to answer that has nothing to do with what was asked.
struct nonsense {
  const char* name;
  fake_http::answer how;
};

/// Names the tests.
void PrintTo(const nonsense& one, std::ostream* out);

/// What anything that is not the server of a store may answer.
std::vector<nonsense> nonsense_of_any_server();

/// Answers with this body, or with this status line ("503 Down") and body.
fake_http::answer body(const std::string& text);
fake_http::answer status(const std::string& line, const std::string& text);

}  // namespace tenure::tests
