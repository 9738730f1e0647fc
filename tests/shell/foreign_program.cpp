#include "foreign_program.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

constexpr core::duration longest_way = 10ms;

}  // namespace

void foreign_program::call(http::client_request what, answer then) {
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
  const auto way = [this] { return dice_.spread(20us, longest_way); };
  const std::size_t server = dice_.below(modelled_cluster::most_servers);
  stage_.in.after(way(), [to = &stage_.servers, in = &stage_.in, back = way(), server, finish,
                          request = std::move(what)]() mutable {
    to->handle(server, std::move(request), [in, back, finish](reply found) {
      in->after(back, [finish, found = std::move(found)] { finish(found); });
    });
  });
  stage_.in.after(patience,
                  [finish] { finish(std::unexpected(http::client_error{.text = "no answer"})); });
}

void foreign_program::later(core::duration wait, std::function<void()> what) {
  stage_.in.after(wait,
                  [this, what = std::move(what), attempt = attempt_, here = std::weak_ptr(here_)] {
                    if (!here.expired() && attempt == attempt_ && !retired_) what();
                  });
}

void foreign_program::once_over(std::function<void()> then) {
  stage_.in.at(until_,
               [this, then = std::move(then), attempt = attempt_, here = std::weak_ptr(here_)] {
                 if (!here.expired() && attempt == attempt_ && !may_act()) then();
               });
}

void foreign_program::act(const std::string& key, const std::string& owner) {
  acts_ = true;
  stage_.referee.foreign_starts(number_, election_, key, owner);
}

void foreign_program::stop_acting() {
  if (std::exchange(acts_, false)) stage_.referee.all_end(number_);
}

void foreign_program::begin_anew(std::function<void()> start) {
  stop_acting();
  begin_attempt();
  later(dice_.spread(100ms, 20s), std::move(start));
}

void foreign_program::stop_for_good() {
  stop_acting();
  retired_ = true;
  begin_attempt();
}

}  // namespace tenure::shell
