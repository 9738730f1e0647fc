#include "fake_etcd.hpp"

namespace tenure::tests {
namespace {

constexpr const char* chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

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

fake_etcd::fake_etcd()
    : http_([this](peer& to, const std::string& request) { answer_as_etcd(to, request); },
            path_of) {}

void fake_etcd::be_in_terms(const std::string& keepalive, const std::string& transaction) {
  const std::lock_guard lock(mutex_);
  keepalive_term_ = keepalive;
  transaction_term_ = transaction;
}

void fake_etcd::answer_as_etcd(peer& to, const std::string& request) {
  const std::string path = path_of(request);
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
