#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "http/server/http_server.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {

/// A stand-in for an agent: answers every GET with the same election, and delays the answer for
/// clients that have it already. Records what a command asks, and when.
class scripted_agent {
 public:
  enum class kind : std::uint8_t {
    counts,     ///< its answers have an index
    does_not,   ///< an older agent, without an index
    impatient,  ///< has an index, but never delays an answer
  };

  explicit scripted_agent(kind what = kind::counts);
  ~scripted_agent();

  /// Changes the election. `election`: members of its JSON, e.g. `"state":"active"`.
  void becomes(const std::string& election);
  /// Answers every GET with this body from now on; it does not have to be an election.
  void says(std::string body);
  /// Answers every POST with this from now on.
  void accepts(std::string status_and_body);

  [[nodiscard]] std::string api() const;       ///< over TCP
  [[nodiscard]] std::string unix_api() const;  ///< over its Unix socket
  /// Requests as "GET /v1/elections/db?index=3&wait=30000ms auth=Bearer x body", oldest first.
  [[nodiscard]] std::vector<std::string> asked() const;
  /// How many requests contain these words.
  [[nodiscard]] std::size_t asked_for(const std::string& words) const;

 private:
  http::response current_locked() const;
  void answer(const http::request& what, http::responder respond);

  kind kind_;
  temporary_directory directory_;
  mutable std::mutex mutex_;
  std::string election_ = R"("state":"candidate")";
  std::string body_;  ///< empty: made from `election_`
  std::uint64_t index_ = 1;
  std::vector<std::string> asked_;
  http::response order_{.status = 202, .body = R"({"accepted":true})"};
  settings::listen_address where_;
  http::http_server server_;
};

}  // namespace tenure::tests
