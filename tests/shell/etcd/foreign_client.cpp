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

constexpr core::duration patience = 1s;
constexpr core::duration longest_way = 10ms;
constexpr int keeps_per_ttl = 3;

}  // namespace

foreign_client::foreign_client(stage& s, std::size_t number, std::string election,
                               std::uint64_t seed)
    : stage_(s), number_(number), election_(std::move(election)), dice_(seed) {
  ttl_ = std::chrono::seconds(dice_.between(2, 8));
  contend();
}

std::string foreign_client::key() const {
  return election_ + "/" + base::hex(static_cast<std::uint64_t>(lease_));
}

void foreign_client::call(const std::string& path, const json& body, answer then) {
  struct asked {
    answer then;
    bool answered = false;
  };
  const auto one = std::make_shared<asked>(asked{.then = std::move(then)});
  const auto finish = [one, attempt = attempt_, this,
                       here = std::weak_ptr(here_)](const json& found) {
    if (std::exchange(one->answered, true) || here.expired() || attempt != attempt_) return;
    one->then(found);
  };
  const auto way = [this] { return dice_.spread(20us, longest_way); };
  const std::size_t server = dice_.below(modelled_cluster::most_servers);
  stage_.in.after(way(), [to = &stage_.servers, in = &stage_.in, back = way(), server, path,
                          text = body.dump(), finish] {
    to->handle(
        server,
        {.method = "POST",
         .target = path,
         .headers = {{.name = "Authorization", .value = std::string(accounts::token_of_others)}},
         .body = text},
        [in, back, finish](const auto& reply) {
          in->after(back, [finish, reply] {
            finish(reply && reply->status == 200 ? json::parse(reply->body) : json());
          });
        });
  });
  stage_.in.after(patience, [finish] { finish(json()); });
}

void foreign_client::later(core::duration wait, void (foreign_client::*what)()) {
  stage_.in.after(wait, [this, what, attempt = attempt_, here = std::weak_ptr(here_)] {
    if (!here.expired() && attempt == attempt_ && !retired_) (this->*what)();
  });
}

void foreign_client::contend() {
  ++attempt_;
  lease_ = static_cast<std::int64_t>(dice_.bits() >> 1U | 1U);
  const world_time sent_at = stage_.in.now;
  call("/v3/lease/grant", {{"ID", std::to_string(lease_)}, {"TTL", std::to_string(ttl_ / 1s)}},
       [this, sent_at](const json& found) {
         if (!found.contains("TTL")) return over();
         until_ = sent_at + ttl_;
         later(ttl_ / keeps_per_ttl, &foreign_client::keep);
         put_key();
       });
}

void foreign_client::put_key() {
  const std::string name = to_base64(key());
  const json put{{"request_put",
                  {{"key", name},
                   {"value", to_base64("client-" + std::to_string(number_))},
                   {"lease", std::to_string(lease_)}}}};
  call("/v3/kv/txn",
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
  call("/v3/kv/txn", {{"compare", json::array()}, {"success", {range}}, {"failure", json::array()}},
       [this](const json& found) {
         if (found.is_null()) return later(patience, &foreign_client::look);
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
  if (ours == 0 || stage_.in.now >= until_) return over();
  if (ours > first) return later(dice_.spread(10ms, 500ms), &foreign_client::look);
  hold();
}

void foreign_client::hold() {
  acts_ = true;
  stage_.referee.foreign_starts(number_, election_, key());
  const core::duration wait = dice_.spread(50ms, 4 * ttl_);
  later(wait, dice_.chance(500'000) ? &foreign_client::release : &foreign_client::over);
}

void foreign_client::keep() {
  call("/v3/lease/keepalive", {{"ID", std::to_string(lease_)}},
       [this, sent_at = stage_.in.now](const json& found) { kept(found, sent_at); });
}

void foreign_client::kept(const json& found, world_time sent_at) {
  if (found.contains("result")) {
    if (!found.at("result").contains("TTL")) return over();
    until_ = sent_at + ttl_;
  }
  if (stage_.in.now >= until_) return over();
  stage_.in.at(until_, [this, attempt = attempt_, here = std::weak_ptr(here_)] {
    if (!here.expired() && attempt == attempt_ && stage_.in.now >= until_) over();
  });
  later(ttl_ / keeps_per_ttl, &foreign_client::keep);
}

void foreign_client::stop_acting() {
  if (std::exchange(acts_, false)) stage_.referee.all_end(number_);
}

void foreign_client::release() {
  stop_acting();
  call("/v3/lease/revoke", {{"ID", std::to_string(lease_)}}, [this](const json&) { over(); });
}

/// It leaves its lease to run out, and starts again later.
void foreign_client::over() {
  stop_acting();
  ++attempt_;
  later(dice_.spread(100ms, 20s), &foreign_client::contend);
}

void foreign_client::retire() {
  stop_acting();
  retired_ = true;
  ++attempt_;
  call("/v3/lease/revoke", {{"ID", std::to_string(lease_)}}, [](const json&) {});
}

}  // namespace tenure::shell
