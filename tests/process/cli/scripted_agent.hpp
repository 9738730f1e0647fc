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

/// Stands for an agent: answers every GET with the same election, and holds the answer back for
/// those who have it already. It shows what a command asks, and when.
class scripted_agent {
 public:
  enum class kind : std::uint8_t {
    counts,     ///< its answers have an index
    does_not,   ///< an older one
    impatient,  ///< has an index, but holds nothing back
  };

  explicit scripted_agent(kind what = kind::counts);
  ~scripted_agent();

  /// Something meaningful has happened. `election`: members of its JSON, e.g. `"state":"active"`.
  void becomes(const std::string& election);
  /// Every GET is answered with this body from now on, be it an election or not.
  void says(std::string body);
  /// Every POST is answered so from now on.
  void accepts(std::string status_and_body);

  [[nodiscard]] std::string api() const;       ///< over TCP
  [[nodiscard]] std::string unix_api() const;  ///< over its Unix socket
  /// Requests as "GET /v1/elections/db?index=3&wait=30000ms auth=Bearer x body", oldest first.
  [[nodiscard]] std::vector<std::string> asked() const;
  /// How many of them have these words in them.
  [[nodiscard]] std::size_t asked_for(const std::string& words) const;

 private:
  http::response current_locked() const;
  void answer(const http::request& what, http::responder respond);

  kind kind_;
  temporary_directory directory_;
  mutable std::mutex mutex_;
  std::string election_ = R"("state":"candidate")";
  std::string body_;  ///< empty: it is made from `election_`
  std::uint64_t index_ = 1;
  std::vector<std::string> asked_;
  http::response order_{.status = 202, .body = R"({"accepted":true})"};
  settings::listen_address where_;
  http::http_server server_;
};

}  // namespace tenure::tests
