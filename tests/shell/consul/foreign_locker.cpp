#include "consul/foreign_locker.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr core::duration patience_of_locker = 1s;
constexpr core::duration longest_way_of_locker = 10ms;
constexpr int renewals_per_ttl = 2;
constexpr std::uint64_t flags_of_a_lock = 0x2ddccbc058a50c18;

bool says_true(const std::expected<http::client_reply, http::client_error>& what) {
  return what && what->status == 200 && what->body == "true";
}

}  // namespace

foreign_locker::foreign_locker(stage& s, std::size_t number, std::string election,
                               std::uint64_t seed)
    : stage_(s), number_(number), election_(std::move(election)), dice_(seed) {
  ttl_ = std::chrono::seconds(dice_.between(2, 8));
  contend();
}

void foreign_locker::call(http::client_request what, answer then) {
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
  const auto way = [this] { return dice_.spread(20us, longest_way_of_locker); };
  const std::size_t server = dice_.below(modelled_cluster::most_servers);
  stage_.in.after(way(), [to = &stage_.servers, in = &stage_.in, back = way(), server, finish,
                          request = std::move(what)]() mutable {
    to->handle(server, std::move(request), [in, back, finish](reply found) {
      in->after(back, [finish, found = std::move(found)] { finish(found); });
    });
  });
  stage_.in.after(patience_of_locker,
                  [finish] { finish(std::unexpected(http::client_error{.text = "no answer"})); });
}

void foreign_locker::later(core::duration wait, void (foreign_locker::*what)()) {
  stage_.in.after(wait, [this, what, attempt = attempt_, here = std::weak_ptr(here_)] {
    if (!here.expired() && attempt == attempt_ && !retired_) (this->*what)();
  });
}

void foreign_locker::contend() {
  ++attempt_;
  session_.clear();
  const world_time sent_at = stage_.in.now;
  const json wanted{{"Name", "Consul client-" + std::to_string(number_)},
                    {"TTL", std::to_string(ttl_ / 1ms) + "ms"},
                    {"LockDelay", dice_.chance(500'000) ? "0ms" : "3000ms"},
                    {"Behavior", "release"}};
  call({.method = "PUT", .target = "/v1/session/create", .body = wanted.dump()},
       [this, sent_at](const reply& found) {
         if (!found || found->status != 200) return over();
         session_ = json::parse(found->body).at("ID").get<std::string>();
         until_ = sent_at + ttl_;
         later(ttl_ / renewals_per_ttl, &foreign_locker::keep);
         acquire();
       });
}

/// Instead of a blocking query between attempts: it asks again and again.
void foreign_locker::acquire() {
  call({.method = "PUT",
        .target = "/v1/kv/" + key() + "?acquire=" + session_ +
                  "&flags=" + std::to_string(flags_of_a_lock),
        .body = "client"},
       [this](const reply& found) {
         if (says_true(found) && stage_.in.now < until_) return hold();
         later(dice_.spread(10ms, 500ms), &foreign_locker::acquire);
       });
}

void foreign_locker::hold() {
  acts_ = true;
  stage_.referee.foreign_starts(number_, election_, key());
  const core::duration wait = dice_.spread(50ms, 4 * ttl_);
  later(wait, dice_.chance(500'000) ? &foreign_locker::release : &foreign_locker::over);
}

void foreign_locker::keep() {
  call({.method = "PUT", .target = "/v1/session/renew/" + session_},
       [this, sent_at = stage_.in.now](const reply& found) {
         if (found && found->status == 404) return over();
         if (found && found->status == 200) until_ = sent_at + ttl_;
         if (stage_.in.now >= until_) return over();
         stage_.in.at(until_, [this, attempt = attempt_, here = std::weak_ptr(here_)] {
           if (!here.expired() && attempt == attempt_ && stage_.in.now >= until_) over();
         });
         later(ttl_ / renewals_per_ttl, &foreign_locker::keep);
       });
}

void foreign_locker::stop_acting() {
  if (std::exchange(acts_, false)) stage_.referee.all_end(number_);
}

void foreign_locker::release() {
  stop_acting();
  call({.method = "PUT",
        .target = "/v1/kv/" + key() + "?release=" + session_ +
                  "&flags=" + std::to_string(flags_of_a_lock),
        .body = "client"},
       [this](const reply&) { over(); });
}

void foreign_locker::destroy_session() {
  if (session_.empty()) return;
  call({.method = "PUT", .target = "/v1/session/destroy/" + session_}, [](const reply&) {});
}

/// It leaves its session to run out, and starts again later.
void foreign_locker::over() {
  stop_acting();
  ++attempt_;
  later(dice_.spread(100ms, 20s), &foreign_locker::contend);
}

void foreign_locker::retire() {
  stop_acting();
  retired_ = true;
  ++attempt_;
  destroy_session();
}

}  // namespace tenure::shell
