#include "etcd/foreign_client.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/number_text.hpp"
#include "etcd/accounts.hpp"
#include "etcd/gateway_json.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using base::to_base64;
using nlohmann::json;

constexpr int keeps_per_ttl = 3;

}  // namespace

foreign_client::foreign_client(stage& s, std::size_t number, std::string election,
                               std::uint64_t seed)
    : foreign_program(s, number, std::move(election), seed) {
  ttl_ = std::chrono::seconds(dice_.between(2, 8));
  contend();
}

std::string foreign_client::key() const {
  return election_ + "/" + base::hex(static_cast<std::uint64_t>(lease_));
}

void foreign_client::ask(const std::string& path, const json& body, found_handler then) {
  call({.method = "POST",
        .target = path,
        .headers = {{.name = "Authorization", .value = std::string(accounts::token_of_others)}},
        .body = body.dump()},
       [then = std::move(then)](const reply& found) {
         then(found && found->status == 200 ? json::parse(found->body) : json());
       });
}

void foreign_client::contend() {
  begin_attempt();
  lease_ = static_cast<std::int64_t>(dice_.bits() >> 1U | 1U);
  const world_time sent_at = stage_.in.now;
  ask("/v3/lease/grant", {{"ID", std::to_string(lease_)}, {"TTL", std::to_string(ttl_ / 1s)}},
      [this, sent_at](const json& found) {
        if (!found.contains("TTL")) return over();
        may_act_until(sent_at + ttl_);
        later(ttl_ / keeps_per_ttl, [this] { keep(); });
        put_key();
      });
}

void foreign_client::put_key() {
  const std::string name = to_base64(key());
  const json put{{"request_put",
                  {{"key", name},
                   {"value", to_base64("client-" + std::to_string(number_))},
                   {"lease", std::to_string(lease_)}}}};
  ask("/v3/kv/txn",
      {{"compare",
        {{{"key", name}, {"result", "EQUAL"}, {"target", "CREATE"}, {"create_revision", "0"}}}},
       {"success", {put}},
       {"failure", json::array()}},
      [this](const json& found) { found.is_null() ? over() : look(); });
}

/// Instead of a watch of the key before its own: it asks again and again.
void foreign_client::look() {
  const json range{
      {"request_range",
       {{"key", to_base64(election_ + "/")}, {"range_end", to_base64(election_ + "0")}}}};
  ask("/v3/kv/txn", {{"compare", json::array()}, {"success", {range}}, {"failure", json::array()}},
      [this](const json& found) {
        if (found.is_null()) return later(patience, [this] { look(); });
        judge_look(found.at("responses").at(0).at("response_range"));
      });
}

void foreign_client::judge_look(const json& found) {
  const auto all = found.value("kvs", json::array());
  const std::string own = to_base64(key());
  std::uint64_t ours = 0;
  std::uint64_t first = UINT64_MAX;
  for (const json& kv : all) {
    const auto create = number<std::uint64_t>(kv, "create_revision");
    first = std::min(first, create);
    if (kv.at("key") == own) ours = create;
  }
  if (ours == 0 || !may_act()) return over();
  if (ours > first) return later(dice_.spread(10ms, 500ms), [this] { look(); });
  hold();
}

void foreign_client::hold() {
  act(key());
  const core::duration wait = dice_.spread(50ms, 4 * ttl_);
  const bool releases = dice_.chance(500'000);
  later(wait, [this, releases] { releases ? release() : over(); });
}

void foreign_client::keep() {
  ask("/v3/lease/keepalive", {{"ID", std::to_string(lease_)}},
      [this, sent_at = stage_.in.now](const json& found) { kept(found, sent_at); });
}

void foreign_client::kept(const json& found, world_time sent_at) {
  if (found.contains("result")) {
    if (!found.at("result").contains("TTL")) return over();
    may_act_until(sent_at + ttl_);
  }
  if (!may_act()) return over();
  once_over([this] { over(); });
  later(ttl_ / keeps_per_ttl, [this] { keep(); });
}

void foreign_client::release() {
  stop_acting();
  ask("/v3/lease/revoke", {{"ID", std::to_string(lease_)}}, [this](const json&) { over(); });
}

/// It leaves its lease to run out, and starts again later.
void foreign_client::over() {
  begin_anew([this] { contend(); });
}

void foreign_client::retire() {
  stop_for_good();
  ask("/v3/lease/revoke", {{"ID", std::to_string(lease_)}}, [](const json&) {});
}

}  // namespace tenure::shell
