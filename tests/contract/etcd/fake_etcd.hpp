#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/scripted_server.hpp"

namespace tenure::tests {

/// A fake: a server that answers as etcd would where it is not told otherwise, and lies where it
/// is. It keeps no leases; every test with it is about replies that no etcd gives.
class fake_etcd {
 public:
  /// Answers a request on its connection.
  using answer = std::function<void(peer& to, const std::string& request)>;

  fake_etcd();

  /// From now on requests for `path` are answered by this; an empty one undoes it.
  void on(const std::string& path, answer how);
  /// The same with one body for all.
  void on(const std::string& path, const std::string& body);

  /// From now on it has applied entries of these raft terms, by the headers of its answers: to
  /// keepalives, and to transactions.
  void be_in_terms(const std::string& keepalive, const std::string& transaction);

  /// How it answers a transaction; for another one that is a member of the same cluster.
  std::string transaction(const std::string& request);

  [[nodiscard]] std::string endpoint() const;
  /// Requests for this path so far.
  [[nodiscard]] int count(const std::string& path) const;

 private:
  void serve(peer& with);
  void answer_as_etcd(peer& to, const std::string& path, const std::string& request);

  mutable std::mutex mutex_;  ///< of all that follows but the server
  std::map<std::string, answer> told_;
  std::map<std::string, int> count_;
  std::string key_;  ///< base64, and what it was put with
  std::string value_;
  std::string lease_;
  std::string keepalive_term_ = "2";
  std::string transaction_term_ = "2";
  scripted_server server_;  ///< last: its threads use the rest
};

/// `"header":{...}` of a reply, and its fields.
std::string header(const std::string& revision = "5", const std::string& raft_term = "2");

/// The value of `"name":"..."` in a request, from behind `after` on.
std::string field_of(const std::string& request, const std::string& name,
                     const std::string& after = "");

}  // namespace tenure::tests
