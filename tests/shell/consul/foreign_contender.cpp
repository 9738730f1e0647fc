#include "consul/foreign_contender.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr core::duration patience_of_client = 1s;
constexpr core::duration longest_way_of_client = 10ms;
constexpr int renewals_per_ttl = 2;

}  // namespace

foreign_contender::foreign_contender(stage& s, std::size_t number, std::string election,
                                     std::uint64_t seed)
    : stage_(s), number_(number), election_(std::move(election)), dice_(seed) {
  ttl_ = std::chrono::seconds(dice_.between(2, 8));
}

void foreign_contender::call(http::client_request what, answer then) {
  struct asked {
    answer then;
    bool answered = false;
  };
  const auto one = std::make_shared<asked>(asked{.then = std::move(then)});
  const auto finish = [one, attempt = attempt_, here = std::weak_ptr(here_),
                       this](const reply& found) {
    if (std::exchange(one->answered, true) || here.expired() || attempt != attempt_) return;
    one->then(found);
  };
  const auto way = [this] { return dice_.spread(20us, longest_way_of_client); };
  const std::size_t server = dice_.below(modelled_cluster::most_servers);
  stage_.in.after(way(), [to = &stage_.servers, in = &stage_.in, back = way(), server, finish,
                          request = std::move(what)]() mutable {
    to->handle(server, std::move(request), [in, back, finish](reply found) {
      in->after(back, [finish, found = std::move(found)] { finish(found); });
    });
  });
  stage_.in.after(patience_of_client,
                  [finish] { finish(std::unexpected(http::client_error{.text = "no answer"})); });
}

void foreign_contender::later(core::duration wait, std::function<void()> what) {
  stage_.in.after(wait,
                  [this, what = std::move(what), attempt = attempt_, here = std::weak_ptr(here_)] {
                    if (!here.expired() && attempt == attempt_ && !retired_) what();
                  });
}

void foreign_contender::contend() {
  ++attempt_;
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
         until_ = sent_at + ttl_;
         later(ttl_ / renewals_per_ttl, [this] { keep(); });
         acquire();
       });
}

void foreign_contender::hold(const std::string& key) {
  acts_ = true;
  stage_.referee.foreign_starts(number_, election_, key);
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
         if (found && found->status == 200) until_ = sent_at + ttl_;
         if (!may_act()) return over();
         stage_.in.at(until_, [this, attempt = attempt_, here = std::weak_ptr(here_)] {
           if (!here.expired() && attempt == attempt_ && !may_act()) over();
         });
         later(ttl_ / renewals_per_ttl, [this] { keep(); });
       });
}

void foreign_contender::stop_acting() {
  if (std::exchange(acts_, false)) stage_.referee.all_end(number_);
}

/// It leaves its session to run out, and starts again later.
void foreign_contender::over() {
  stop_acting();
  ++attempt_;
  later(dice_.spread(100ms, 20s), [this] { contend(); });
}

void foreign_contender::retire() {
  stop_acting();
  retired_ = true;
  ++attempt_;
  if (session_.empty()) return;
  call({.method = "PUT", .target = "/v1/session/destroy/" + session_}, [](const reply&) {});
}

}  // namespace tenure::shell
