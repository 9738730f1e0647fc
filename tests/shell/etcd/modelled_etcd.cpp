#include "etcd/modelled_etcd.hpp"

#include <algorithm>
#include <utility>

#include "etcd/gateway_json.hpp"

namespace tenure::shell {
namespace {

/// Empty: the request has none.
std::string token_in(const http::client_request& asked) {
  const auto found = std::ranges::find(asked.headers, "Authorization", &http::header::name);
  return found == asked.headers.end() ? std::string() : std::string(found->value);
}

std::string without_leader() {
  return nlohmann::json{{"error", {{"grpc_code", 14}, {"message", "etcdserver: no leader"}}}}
             .dump() +
         "\n";
}

}  // namespace

modelled_etcd::modelled_etcd(world& in, store_witness& seen_by, etcd_release release)
    : modelled_cluster(
          in, {.applied = [this](std::size_t m) { streams_.feed(m); },
               .stopped =
                   [this](std::size_t m) {
                     streams_.end_all(m, "");
                     users_.forget(m);
                   },
               .leaderless = [this](std::size_t m) { streams_.end_all(m, without_leader()); },
               .elected =
                   [this, &seen_by] {
                     leases_.extend_all();
                     seen_by.leases_begin_anew();
                   }}),
      keys_(seen_by),
      users_(in, members_),
      leases_(in, members_, keys_),
      streams_(in, members_, keys_, users_),
      gateway_(in, members_, keys_, leases_, users_, release) {}

void modelled_etcd::handle(std::size_t server, http::client_request asked, reply done) {
  gateway_.handle(server, asked.target, asked.body, token_in(asked),
                  [to = std::move(done)](unsigned status, std::string body) mutable {
                    http::client_reply out{{.status = status}};
                    out.body = std::move(body);
                    to(std::move(out));
                  });
}

void modelled_etcd::open(std::size_t server, const std::shared_ptr<served_stream>& what,
                         const http::client_request& asked) {
  streams_.open(server, std::static_pointer_cast<watch_stream>(what), asked.body, token_in(asked));
}

void modelled_etcd::others_write(std::uint64_t times) {
  if (!members_.led()) return;
  keys_.others_write(times);
  members_.commit(keys_.revision());
}

void modelled_etcd::write(const std::string& key, const std::string& value) {
  if (!members_.led()) return;
  keys_.begin();
  keys_.put(key, value, 0);
  keys_.end();
  members_.commit(keys_.revision());
}

void modelled_etcd::clean(const std::string& prefix) {
  keys_.begin();
  for (const auto& [key, there] : keys_.under(prefix)) {
    if (there->lease == 0) keys_.erase(key, erased_by::somebody);
  }
  if (keys_.end()) members_.commit(keys_.revision());
}

void modelled_etcd::restore(const backup& from, std::uint64_t bump, bool new_cluster_id) {
  keys_.restore(from.keys, bump);
  leases_.restore(from.leases);
  members_.begin_anew(keys_.revision(), members_.cluster_id() + (new_cluster_id ? 1 : 0));
}

bool modelled_etcd::delete_one(const std::string& election) {
  const auto found = keys_.under(election + "/");
  if (!members_.led() || found.empty()) return false;
  keys_.begin();
  keys_.erase(found.front().first, erased_by::somebody);
  keys_.end();
  members_.commit(keys_.revision());
  return true;
}

bool modelled_etcd::revoke_one(const std::string& election) {
  if (!members_.led()) return false;
  for (const auto& [key, there] : keys_.under(election + "/")) {
    if (there->lease == 0) continue;
    leases_.end(there->lease, erased_by::somebody);
    return true;
  }
  return false;
}

std::string modelled_etcd::describe() const {
  std::string out = "revision " + std::to_string(keys_.revision()) + ", " + members_.describe();
  for (std::size_t s = 0; s < most_servers; ++s) {
    out += "; " + members_.describe(s) + ", " + std::to_string(streams_.open_at(s)) + " streams";
  }
  return out;
}

std::vector<std::uint64_t> modelled_etcd::contenders(const std::string& election) const {
  std::vector<std::uint64_t> out;
  for (const auto& [key, there] : keys_.under(election + "/")) out.push_back(there->create);
  std::ranges::sort(out);
  return out;
}

}  // namespace tenure::shell
