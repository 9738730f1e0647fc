#include "served_calls.hpp"

#include <utility>

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

constexpr core::duration least_way = 20us;
constexpr core::duration longest_way = 3ms;

}  // namespace

void served_calls::arrive(std::size_t server, http::client_request asked,
                          modelled_cluster::reply done) {
  if (!servers_.up(server)) return;
  auto c = std::make_shared<call>();
  c->server = server;
  c->target = *http::parse_target(asked.target);
  c->asked = std::move(asked);
  c->done = std::move(done);
  c->number = ++last_;
  open_[c->number] = c;
  if (!servers_.frozen(server)) return take_(c);
  servers_.when_thawed(server, [this, c] { take_(c); });
}

void served_calls::answer(const call_ptr& c, http::client_reply what) {
  auto leave = [this, c, what = std::move(what)]() mutable {
    if (leaves(c)) c->done(std::move(what));
  };
  world_.after(world_.dice.spread(least_way, longest_way),
               [this, c, leave = std::move(leave)]() mutable {
                 if (!servers_.up(c->server)) return;
                 if (!servers_.frozen(c->server)) return leave();
                 servers_.when_thawed(c->server, std::move(leave));
               });
}

void served_calls::reset(const call_ptr& c) {
  if (!leaves(c)) return;
  c->done(std::unexpected(
      http::client_error{.how = http::sending::in_doubt, .text = "the connection was reset"}));
}

std::vector<served_calls::call_ptr> served_calls::open_at(std::size_t server) const {
  std::vector<call_ptr> out;
  for (const auto& [number, c] : open_) {
    if (c->server == server) out.push_back(c);
  }
  return out;
}

bool served_calls::leaves(const call_ptr& c) {
  if (std::exchange(c->over, true)) return false;
  open_.erase(c->number);
  return true;
}

}  // namespace tenure::shell
