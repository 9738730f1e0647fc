#include "modelled_network.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <set>
#include <utility>

#include "core/sometimes.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

/// The kernel gives a connection up whose bytes nobody has confirmed for so long.
constexpr core::duration dead_after = 10s;
constexpr std::uint32_t half = 500'000;
/// Until a name server, or the handshake, has failed. Descriptors run out at once.
constexpr core::duration longest_dial = 5s;
constexpr const char* no_dial = "no new connection can be made";

}  // namespace

void modelled_network::cut(std::size_t pod, std::size_t server, direction which) {
  link& one = of(pod, server);
  const bool was_whole = !one.is_cut(direction::to_server) && !one.is_cut(direction::to_agent);
  one.cut_off[static_cast<std::size_t>(which)] = true;
  if (was_whole) ++one.cuts;
}

void modelled_network::heal(std::size_t pod, std::size_t server) {
  link& one = of(pod, server);
  one.cut_off = {};
  // What is sent again comes in its order, after a pause of TCP's.
  core::duration pause = world_.dice.spread(1ms, 500ms);
  for (world::task& next : std::exchange(one.held, {})) {
    world_.after(pause, std::move(next));
    pause += 10us;
  }
}

void modelled_network::note_news(std::size_t pod, world_time sent_at) {
  auto& all = news_[pod];
  all.push_back({.read_at = world_.now, .sent_at = sent_at});
  if (all.size() > most_news) all.pop_front();
}

world_time modelled_network::news_from(std::size_t pod, world_time by) const {
  const auto first_after = std::ranges::upper_bound(news_[pod], by, {}, &news::read_at);
  return first_after == news_[pod].begin() ? sim::world_never : std::prev(first_after)->sent_at;
}

void modelled_network::carry(std::size_t pod, std::size_t server, direction where,
                             world::task arrive) {
  link& over = of(pod, server);
  if (!over.is_cut(where)) {
    const core::duration takes = world_.dice.spread(20us, over.most_delay);
    world_.after(takes, [this, pod, server, where, arrive = std::move(arrive)]() mutable {
      link& then = of(pod, server);
      if (!then.is_cut(where)) return arrive();
      TENURE_SOMETIMES(model_packet_cut_off_on_its_way);
      if (world_.dice.chance(half)) then.held.push_back(std::move(arrive));
    });
  } else if (world_.dice.chance(half)) {
    over.held.push_back(std::move(arrive));
  }
}

/// A watch: both directions keep their order.
class modelled_stream final : public http::http_stream {
 public:
  /// Shared with what is under way.
  struct state : std::enable_shared_from_this<state> {
    modelled_network* network = nullptr;
    std::size_t pod = 0;
    std::size_t server = 0;
    std::weak_ptr<process> agent;
    http::stream_handlers on;
    std::shared_ptr<served_stream> there;
    /// What is under way in one direction.
    struct queue {
      std::deque<world::task> waiting;
      bool moves = false;  ///< the first of them does
    };
    queue up;                   ///< to the server
    queue down;                 ///< to the agent
    world_time paused_until{};  ///< the agent reads nothing
    bool has_head = false;
    bool over = false;
    bool is_destroyed = false;  ///< no handler is called any more

    /// The first of a queue moves; those behind it wait.
    void move(direction where) {
      queue& of = where == direction::to_server ? up : down;
      if (of.moves || of.waiting.empty() || over) return;
      of.moves = true;
      const auto go_on = [self = shared_from_this(), &of, where] {
        of.moves = false;
        self->move(where);
      };
      if (where == direction::to_agent && network->world_.now < paused_until) {
        return network->world_.at(paused_until, go_on);
      }
      auto& link = network->of(pod, server);
      if (link.is_cut(where)) {
        link.held.emplace_back(go_on);
        return;
      }
      const core::duration takes = network->world_.dice.spread(20us, link.most_delay);
      network->world_.after(takes, [self = shared_from_this(), &of, where] {
        of.moves = false;
        if (self->over || of.waiting.empty()) return;
        if (!self->network->of(self->pod, self->server).is_cut(where)) {
          auto first = std::move(of.waiting.front());
          of.waiting.pop_front();
          first();
        }
        self->move(where);
      });
    }

    void to_server(world::task what) {
      up.waiting.push_back(std::move(what));
      move(direction::to_server);
    }
    void to_agent(world::task what) {
      down.waiting.push_back([self = shared_from_this(), work = std::move(what)]() mutable {
        const auto agent_there = self->agent.lock();
        if (!agent_there) return;
        agent_there->post([self, then = std::move(work)]() mutable {
          if (!self->over) then();
        });
      });
      move(direction::to_agent);
    }

    void end(std::optional<http::client_error> why) {
      if (std::exchange(over, true)) return;
      up.waiting.clear();
      down.waiting.clear();
      if (there) there->closed = true;
      const auto agent_there = agent.lock();
      if (!agent_there) return;
      agent_there->post([self = shared_from_this(), why = std::move(why)]() mutable {
        if (self->on.ended && !self->is_destroyed) self->on.ended(std::move(why));
      });
    }
  };

  explicit modelled_stream(std::shared_ptr<state> what) : state_(std::move(what)) {}

  /// Ends it if it has no head by then.
  void end_without_head(base::event_loop& on, core::time_point at) {
    late_ = std::make_unique<base::timer>(on);
    late_->at(at, [s = state_.get()] {
      if (!s->has_head) s->end(http::client_error{.text = "no answer in time"});
    });
  }

  ~modelled_stream() override {
    // Its handlers stay: one of them may be what destroys this.
    state_->over = state_->is_destroyed = true;
    state_->up.waiting.clear();
    state_->down.waiting.clear();
    if (state_->there) state_->there->closed = true;
  }

  void send(std::string_view more) override {
    state_->to_server(
        [s = state_, text = std::string(more)] { s->network->servers_.more(s->there, text); });
  }
  void pause(core::duration how_long) override {
    state_->paused_until = std::max(state_->paused_until, state_->network->world_.now + how_long);
  }

 private:
  std::shared_ptr<state> state_;
  std::unique_ptr<base::timer> late_;
};

class modelled_client final : public http::http_client {
 public:
  modelled_client(modelled_network& over, std::size_t pod, std::size_t server,
                  const std::shared_ptr<process>& agent, settings::endpoint to)
      : network_(over), pod_(pod), number_(server), agent_(agent), server_(std::move(to)) {}
  ~modelled_client() override { close(); }

  std::expected<void, std::string> check() override { return {}; }

  void send(http::client_request what, core::time_point deadline,
            http::reply_handler done) override {
    const auto agent = agent_.lock();
    auto one = std::make_shared<call>(*agent);
    one->done = std::move(done);
    calls_.insert(one);
    if (!has_connection()) return fail_to_dial(one, deadline);
    one->late.at(deadline, [this, noted = std::weak_ptr(one)] {
      if (const auto there = noted.lock())
        finish(there, failed(http::sending::in_doubt, "no answer in time"));
    });
    network_.carry(
        pod_, number_, direction::to_server,
        [this, noted = std::weak_ptr(one), alive = std::weak_ptr(alive_), network = &network_,
         pod = pod_, number = number_, agent = agent_, asked_at = network_.world_.now,
         asked = std::move(what)]() mutable {
          const auto back = [=, this, target = asked.target](
                                std::expected<http::client_reply, http::client_error> answer) {
            auto carry = [=, this, answer = std::move(answer)]() mutable {
              network->carry(pod, number, direction::to_agent,
                             [=, this, answer = std::move(answer)]() mutable {
                               const auto there = agent.lock();
                               if (!there) return;
                               there->post([=, this, answer = std::move(answer)]() mutable {
                                 const auto waiting = noted.lock();
                                 if (alive.expired() || !waiting) return;
                                 if (answer) ++idle_;
                                 if (answer && network->hears)
                                   network->hears(pod, target, asked_at, *answer);
                                 finish(waiting, std::move(answer));
                               });
                             });
            };
            const core::duration later = network->lateness_of(pod, target);
            later > 0ns ? network->world_.after(later, std::move(carry)) : carry();
          };
          if (!network->servers_.listens(number)) {
            return back(failed(http::sending::not_sent, "connection refused"));
          }
          network->servers_.handle(number, std::move(asked), back);
        });
  }

  void warm_up(core::time_point) override {}

  [[nodiscard]] std::unique_ptr<http::http_stream> stream(http::client_request what,
                                                          core::time_point head_deadline,
                                                          http::stream_handlers on) override {
    auto made = std::make_shared<modelled_stream::state>();
    made->network = &network_;
    made->pod = pod_;
    made->server = number_;
    made->agent = agent_;
    made->on = std::move(on);
    made->there = network_.servers_.make_stream();
    // Who opens one has just read everything.
    network_.note_news(pod_, network_.world_.now);
    made->there->data = [noted = std::weak_ptr(made)](std::string text) {
      const auto self = noted.lock();
      if (!self) return;
      self->to_agent([s = self.get(), text = std::move(text), sent = self->network->world_.now] {
        s->network->note_news(s->pod, sent);
        s->on.data(text);
      });
    };
    made->there->end = [noted = std::weak_ptr(made)] {
      const auto self = noted.lock();
      if (self) self->to_agent([s = self.get()] { s->end(std::nullopt); });
    };
    made->there->head = [noted = std::weak_ptr(made)](http::reply_head came) {
      const auto self = noted.lock();
      if (!self) return;
      self->to_agent([s = self.get(), came = std::move(came)] {
        s->has_head = true;
        s->on.head(came);
      });
    };
    made->there->reset = [noted = std::weak_ptr(made)] {
      const auto self = noted.lock();
      if (!self) return;
      self->to_agent(
          [s = self.get()] { s->end(http::client_error{.text = "the connection was reset"}); });
    };
    if (network_.refuses_dials_[pod_]) {
      network_.world_.after(network_.world_.dice.spread(20us, longest_dial),
                            [made] { made->end(http::client_error{.text = no_dial}); });
      return std::make_unique<modelled_stream>(std::move(made));
    }
    made->to_server([s = made.get(), asked = std::move(what)] {
      if (!s->network->servers_.listens(s->server)) {
        return s->end(http::client_error{.text = "connection refused"});
      }
      if (!s->network->servers_.sends_heads()) s->there->head({.status = 200});
      s->network->servers_.open(s->server, s->there, asked);
    });
    watch_for_death(network_.world_, made, 0);
    const bool may_lack_head = network_.servers_.sends_heads();
    auto out = std::make_unique<modelled_stream>(std::move(made));
    if (may_lack_head) out->end_without_head(*agent_.lock(), head_deadline);
    return out;
  }

  void close() override {
    alive_.reset();
    for (const auto& one : std::exchange(calls_, {})) one->late.cancel();
  }

  [[nodiscard]] const settings::endpoint& server() const override { return server_; }

 private:
  struct call {
    explicit call(base::event_loop& on) : late(on) {}
    http::reply_handler done;
    base::timer late;
  };

  static std::expected<http::client_reply, http::client_error> failed(http::sending how,
                                                                      std::string why) {
    return std::unexpected(http::client_error{.how = how, .text = std::move(why)});
  }

  /// A connection that is cut for too long ends.
  static void watch_for_death(world& in, const std::shared_ptr<modelled_stream::state>& one,
                              std::uint64_t cuts_before) {
    in.after(dead_after, [&in, noted = std::weak_ptr(one), cuts_before] {
      const auto self = noted.lock();
      if (!self || self->over) return;
      const auto& link = self->network->of(self->pod, self->server);
      // What arrives is not confirmed, or the confirmation does not arrive.
      const bool is_cut = link.is_cut(direction::to_server) || link.is_cut(direction::to_agent);
      if (is_cut && link.cuts == cuts_before) {
        TENURE_SOMETIMES(model_connection_died_of_silence);
        return self->end(http::client_error{.text = "the server has vanished"});
      }
      watch_for_death(in, self, is_cut ? link.cuts : 0);
    });
  }

  /// One that stands, or a new one.
  [[nodiscard]] bool has_connection() {
    if (std::exchange(closed_before_, network_.idle_closed_[pod_]) < network_.idle_closed_[pod_]) {
      idle_ = 0;
    }
    if (idle_ == 0) return !network_.refuses_dials_[pod_];
    --idle_;
    return true;
  }

  void fail_to_dial(const std::shared_ptr<call>& one, core::time_point deadline) {
    const core::duration takes = network_.world_.dice.spread(20us, longest_dial);
    one->late.at(std::min(deadline, agent_.lock()->now() + takes),
                 [this, noted = std::weak_ptr(one)] {
                   if (const auto there = noted.lock())
                     finish(there, failed(http::sending::not_sent, no_dial));
                 });
  }

  void finish(const std::shared_ptr<call>& one,
              std::expected<http::client_reply, http::client_error> how) {
    if (calls_.erase(one) == 0) return;
    one->late.cancel();
    auto done = std::exchange(one->done, nullptr);
    done(std::move(how));
  }

  modelled_network& network_;
  std::size_t pod_;
  std::size_t number_;
  std::weak_ptr<process> agent_;
  settings::endpoint server_;
  std::set<std::shared_ptr<call>> calls_;
  std::uint64_t closed_before_ = 0;  ///< `modelled_network::idle_closed_` at the last call
  std::size_t idle_ = 0;             ///< connections that stand, on which nothing is asked
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

http::http_connector modelled_network::connector(std::size_t pod,
                                                 const std::shared_ptr<process>& agent) {
  return [this, pod, noted = std::weak_ptr(agent)](settings::endpoint to, const http::tls_settings&,
                                                   http::client_limits) {
    std::size_t server = 0;
    std::from_chars(to.host.data(), to.host.data() + to.host.size(), server);
    return std::make_unique<modelled_client>(*this, pod, server % modelled_cluster::most_servers,
                                             noted.lock(), std::move(to));
  };
}

}  // namespace tenure::shell
