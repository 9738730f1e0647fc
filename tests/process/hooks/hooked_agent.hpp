#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "harness.hpp"

namespace tenure::tests {

/// Only a release can move this lease within the patience of a test.
inline constexpr const char* no_expiry = "10m";

/// `tenure agent`, a member of the election "test" whose workload others run.
class hooked_agent {
 public:
  hooked_agent(const temporary_directory& in, const std::string& identity,
               const std::vector<std::string>& more, const std::string& ttl = no_expiry)
      : process_(words(in, identity, more, ttl), in / identity) {}

  program& process() { return process_; }
  [[nodiscard]] bool becomes_active() const {
    return eventually([this] { return process_.said("state=active"); });
  }
  /// Ends the agent as the end of a pod does; returns its status.
  std::optional<int> ends() {
    process_.send(SIGTERM);
    return process_.wait();
  }

 private:
  static std::vector<std::string> words(const temporary_directory& in, const std::string& identity,
                                        const std::vector<std::string>& more,
                                        const std::string& ttl) {
    std::vector<std::string> all{tenure_binary(), "agent",   "--store",        "sqlite",
                                 "--endpoint",    in / "db", "--election",     "test",
                                 "--identity",    identity,  "--ttl",          ttl,
                                 "--listen",      "off",     "--probe-listen", "off"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  program process_;
};

/// A command that appends what it was told as one line, and ends with `then`.
inline std::string notes(const temporary_directory& in, const std::string& then = "true") {
  return "sh -c \"echo $TENURE_EVENT $TENURE_IDENTITY $TENURE_VERSION >> " +
         (in / "notes").string() + "; " + then + "\"";
}

inline std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) out.push_back(line);
  return out;
}

/// The lines of `notes`, without the stop without a term at the start of each agent.
inline std::vector<std::string> noted(const temporary_directory& in) {
  std::vector<std::string> all = lines_of(in / "notes");
  std::erase_if(
      all, [](const std::string& one) { return one.starts_with("stop ") && one.ends_with(" 0"); });
  return all;
}

}  // namespace tenure::tests
