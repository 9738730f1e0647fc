#include "fake_etcd.hpp"

#include <utility>

namespace tenure::tests {
namespace {

constexpr const char* chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string path_of(const std::string& request) {
  const auto from = request.find(' ') + 1;
  return request.substr(from, request.find(' ', from) - from);
}

}  // namespace

std::string header(const std::string& revision, const std::string& raft_term) {
  return R"("header":{"cluster_id":"7","member_id":"8","revision":")" + revision +
         R"(","raft_term":")" + raft_term + "\"}";
}

std::string field_of(const std::string& request, const std::string& name,
                     const std::string& after) {
  const std::string start = "\"" + name + "\":\"";
  const auto from = request.find(start, after.empty() ? 0 : request.find(after));
  if (from == std::string::npos) return {};
  const auto begin = from + start.size();
  return request.substr(begin, request.find('"', begin) - begin);
}

fake_etcd::fake_etcd() : server_([this](peer& with, int) { serve(with); }) {}

void fake_etcd::on(const std::string& path, answer how) {
  const std::lock_guard lock(mutex_);
  told_[path] = std::move(how);
}

void fake_etcd::on(const std::string& path, const std::string& body) {
  on(path, [body](peer& to, const std::string&) { to.reply(body); });
}

void fake_etcd::be_in_terms(const std::string& keepalive, const std::string& transaction) {
  const std::lock_guard lock(mutex_);
  keepalive_term_ = keepalive;
  transaction_term_ = transaction;
}

std::string fake_etcd::endpoint() const {
  return settings::text(server_.where());
}

int fake_etcd::count(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = count_.find(path);
  return found == count_.end() ? 0 : found->second;
}

void fake_etcd::serve(peer& with) {
  for (std::string request = with.request(); !request.empty(); request = with.request()) {
    const std::string path = path_of(request);
    answer how;
    {
      const std::lock_guard lock(mutex_);
      ++count_[path];
      const auto found = told_.find(path);
      if (found != told_.end()) how = found->second;
    }
    if (how) {
      how(with, request);
    } else {
      answer_as_etcd(with, path, request);
    }
  }
}

void fake_etcd::answer_as_etcd(peer& to, const std::string& path, const std::string& request) {
  if (path == "/version") {
    to.reply(R"({"etcdserver":"3.5.26","etcdcluster":"3.5.0"})");
  } else if (path == "/v3/kv/txn") {
    to.reply(transaction(request));
  } else if (path == "/v3/lease/grant") {
    to.reply("{" + header() + R"(,"ID":")" + field_of(request, "ID") + R"(","TTL":")" +
             field_of(request, "TTL") + "\"}");
  } else if (path == "/v3/lease/keepalive") {
    const std::lock_guard lock(mutex_);
    to.reply(R"({"result":{)" + header("5", keepalive_term_) + R"(,"ID":")" +
             field_of(request, "ID") + R"(","TTL":"60"}})");
  } else if (path == "/v3/watch") {
    const std::string created = R"({"result":{)" + header() + R"(,"watch_id":"1","created":true}})";
    constexpr const char* hex = "0123456789abcdef";
    to.send(chunked + std::string{hex[created.size() / 16], hex[created.size() % 16]} + "\r\n" +
            created + "\r\n");
    to.closed();
  } else {
    to.reply("{" + header() + "}");
  }
}

/// Holds all reads of an election, its campaigns and its releases together.
std::string fake_etcd::transaction(const std::string& request) {
  const std::lock_guard lock(mutex_);
  std::string parts;
  if (request.contains("request_delete_range")) {
    key_.clear();
    return "{" + header("5", transaction_term_) + R"(,"succeeded":true})";
  }
  if (request.contains("request_put")) {
    // The last one: before it the agreement may be written down.
    const auto put = request.rfind("request_put");
    const std::string there = request.substr(put);
    key_ = field_of(there, "key");
    value_ = field_of(there, "value");
    lease_ = field_of(there, "lease");
    parts = R"({"response_put":{}},)";
  }
  const std::string kv = key_.empty() ? ""
                                      : R"("kvs":[{"key":")" + key_ + R"(","value":")" + value_ +
                                            R"(","lease":")" + lease_ +
                                            R"(","create_revision":"5","mod_revision":"5"}],)"
                                            R"("count":"1")";
  return "{" + header(key_.empty() ? "4" : "5", transaction_term_) +
         R"(,"succeeded":true,"responses":[)" + parts + R"({"response_range":{)" + kv + "}}]}";
}

}  // namespace tenure::tests
