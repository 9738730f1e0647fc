#include "consul/foreign_contender.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr int renewals_per_ttl = 2;

}  // namespace

foreign_contender::foreign_contender(stage& s, std::size_t number, std::string election,
                                     std::uint64_t seed)
    : foreign_program(s, number, std::move(election), seed) {
  ttl_ = std::chrono::seconds(dice_.between(2, 8));
}

void foreign_contender::contend() {
  begin_attempt();
  session_.clear();
  const world_time sent_at = stage_.in.now;
  const json wanted{{"Name", "Consul client-" + std::to_string(number_)},
                    {"TTL", std::to_string(ttl_ / 1ms) + "ms"},
                    {"LockDelay", dice_.chance(500'000) ? "0ms" : "3000ms"},
                    {"Behavior", behavior_}};
  call({.method = "PUT", .target = "/v1/session/create", .body = wanted.dump()},
       [this, sent_at](const reply& found) {
         if (!found || found->status != 200) return over();
         session_ = json::parse(found->body).at("ID").get<std::string>();
         may_act_until(sent_at + ttl_);
         later(ttl_ / renewals_per_ttl, [this] { keep(); });
         acquire();
       });
}

void foreign_contender::hold(const std::string& key) {
  act(key);
  const core::duration wait = dice_.spread(50ms, 4 * ttl_);
  const bool releases = dice_.chance(500'000);
  later(wait, [this, releases] {
    if (!releases) return over();
    stop_acting();
    release();
  });
}

void foreign_contender::keep() {
  call({.method = "PUT", .target = "/v1/session/renew/" + session_},
       [this, sent_at = stage_.in.now](const reply& found) {
         if (found && found->status == 404) return over();
         if (found && found->status == 200) may_act_until(sent_at + ttl_);
         if (!may_act()) return over();
         once_over([this] { over(); });
         later(ttl_ / renewals_per_ttl, [this] { keep(); });
       });
}

/// It leaves its session to run out, and starts again later.
void foreign_contender::over() {
  begin_anew([this] { contend(); });
}

void foreign_contender::retire() {
  stop_for_good();
  if (session_.empty()) return;
  call({.method = "PUT", .target = "/v1/session/destroy/" + session_}, [](const reply&) {});
}

}  // namespace tenure::shell
