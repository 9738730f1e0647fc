#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "fake_http.hpp"

namespace tenure::tests {

/// A fake: a server that answers as etcd would where it is not told otherwise, and lies where it
/// is. It keeps no leases; every test with it is about replies that no etcd gives.
class fake_etcd {
 public:
  using answer = fake_http::answer;

  fake_etcd();

  /// See `fake_http`. The name of a request is its path.
  void on(const std::string& path, answer how) { http_.on(path, std::move(how)); }
  void on(const std::string& path, const std::string& body) { http_.on(path, body); }

  /// From now on it has applied entries of these raft terms, by the headers of its answers: to
  /// keepalives, and to transactions.
  void be_in_terms(const std::string& keepalive, const std::string& transaction);

  /// How it answers a transaction; for another one that is a member of the same cluster.
  std::string transaction(const std::string& request);

  [[nodiscard]] std::string endpoint() const { return http_.endpoint(); }
  [[nodiscard]] int count(const std::string& path) const { return http_.count(path); }

 private:
  void answer_as_etcd(peer& to, const std::string& request);

  std::mutex mutex_;  ///< of all that follows but the server
  std::string key_;   ///< base64, and what it was put with
  std::string value_;
  std::string lease_;
  std::string keepalive_term_ = "2";
  std::string transaction_term_ = "2";
  fake_http http_;  ///< last: its threads use the rest
};

/// `"header":{...}` of a reply, and its fields.
std::string header(const std::string& revision = "5", const std::string& raft_term = "2");

/// The value of `"name":"..."` in a request, from behind `after` on.
std::string field_of(const std::string& request, const std::string& name,
                     const std::string& after = "");

}  // namespace tenure::tests
