#include "http/client/http_network.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <utility>
#include <vector>

#include "base/boot_time.hpp"
#include "core/check.hpp"
#include "http/client/client_connection.hpp"
#include "http/client/client_route.hpp"
#include "http/client/client_stream.hpp"
#include "http/client/request_text.hpp"

namespace tenure::http {
namespace {

/// A request from `send` to its handler.
struct call {
  explicit call(const boost::asio::any_io_executor& where) : deadline_timer(where) {}

  std::string summary;
  std::string request;
  bool is_head = false;
  bool urgent = false;
  core::time_point deadline{};
  reply_handler done;
  boost::asio::steady_timer deadline_timer;
  std::shared_ptr<client_dialer> dialer;          ///< while it connects
  std::shared_ptr<client_connection> connection;  ///< once it is sent
};

struct idle_connection {
  idle_connection(std::shared_ptr<client_connection> which, core::time_point now)
      : connection(std::move(which)), since(now) {}

  std::shared_ptr<client_connection> connection;
  core::time_point since;
};

/// Shared with operations under way, so that a handler may destroy the client.
struct client_state : std::enable_shared_from_this<client_state> {
  client_state(const boost::asio::any_io_executor& where, settings::endpoint to, tls_settings tls,
               client_limits granted)
      : executor(where),
        route(std::make_shared<client_route>(where, std::move(to), std::move(tls))),
        limits(granted),
        idle_timer(where) {}

  void send(client_request what, core::time_point deadline, reply_handler done);
  void refuse(std::string text, reply_handler done);
  void pump();
  std::shared_ptr<call> next();
  void begin(const std::shared_ptr<call>& c);
  void warm_up(core::time_point deadline);
  std::shared_ptr<client_connection> opened(std::shared_ptr<byte_stream> over);
  std::shared_ptr<client_connection> take_idle();
  void dial(const std::shared_ptr<call>& c);
  void exchange(const std::shared_ptr<call>& c, std::shared_ptr<client_connection> over);
  void replied(const std::shared_ptr<call>& c, reply_reader& reader,
               std::expected<void, std::string> how);
  void too_late(const std::shared_ptr<call>& c);
  void finish(const std::shared_ptr<call>& c, std::expected<client_reply, std::string> how);
  void keep(std::shared_ptr<client_connection> used);
  void drop_idle(const client_connection* which);
  void drop_old();
  void close();

  boost::asio::any_io_executor executor;
  std::shared_ptr<client_route> route;
  client_limits limits;
  boost::asio::steady_timer idle_timer;       ///< for the connection that has been idle the longest
  std::deque<std::shared_ptr<call>> urgent;   ///< those that wait
  std::deque<std::shared_ptr<call>> waiting;  ///< likewise, not urgent
  std::vector<std::shared_ptr<call>> active;  ///< those with a connection, or dialing for one
  std::deque<idle_connection> idle;           ///< the most recently used one last
  std::vector<std::shared_ptr<client_dialer>> warming;  ///< not for a request yet
  std::vector<std::weak_ptr<client_stream>> streams;
  bool closed = false;
};

void client_state::send(client_request what, core::time_point deadline, reply_handler done) {
  TENURE_CHECK(!closed && done);
  std::string name = summary(what, route->server);
  auto request = request_text(what, route->server);
  if (!request) return refuse(name + ": " + request.error(), std::move(done));
  auto& queue = what.urgent ? urgent : waiting;
  if (queue.size() >= limits.waiting) {
    return refuse(name + ": " + std::to_string(queue.size()) +
                      " requests wait for a connection already; the server answers too slowly",
                  std::move(done));
  }
  auto c = std::make_shared<call>(executor);
  c->summary = std::move(name);
  c->request = std::move(*request);
  c->is_head = what.method == "HEAD";
  c->urgent = what.urgent;
  c->deadline = deadline;
  c->done = std::move(done);
  expire_at(c->deadline_timer, deadline);
  c->deadline_timer.async_wait(
      [noted = weak_from_this(), one = std::weak_ptr(c)](const boost::system::error_code& error) {
        const auto self = noted.lock();
        const auto late = one.lock();
        if (self && late && !error) self->too_late(late);
      });
  queue.push_back(std::move(c));
  pump();
}

void client_state::refuse(std::string text, reply_handler done) {
  boost::asio::post(executor, [self = shared_from_this(), text = std::move(text),
                               call_back = std::move(done)]() mutable {
    if (self->closed || !call_back) return;
    call_back(std::unexpected(client_error{.how = sending::not_sent, .text = std::move(text)}));
  });
}

/// Gives waiting requests the free connections, or new ones.
void client_state::pump() {
  while (!closed) {
    const std::shared_ptr<call> c = next();
    if (!c) return;
    if (base::boot_now() < c->deadline) {
      begin(c);
    } else {
      // Its timer is about to fire; until then it must not be sent.
      boost::asio::post(executor, [self = shared_from_this(), c] { self->too_late(c); });
    }
  }
}

/// Takes the next request off the queue, if there may be another connection for it.
std::shared_ptr<call> client_state::next() {
  auto& queue = urgent.empty() ? waiting : urgent;
  if (queue.empty() || active.size() >= limits.connections) return nullptr;
  const auto urgent_ones = std::ranges::count_if(active, &call::urgent);
  const std::size_t others = active.size() - static_cast<std::size_t>(urgent_ones);
  if (urgent.empty() && others >= limits.connections - limits.reserved) return nullptr;
  auto first = std::move(queue.front());
  queue.pop_front();
  return first;
}

void client_state::begin(const std::shared_ptr<call>& c) {
  active.push_back(c);
  if (auto free = take_idle(); free) {
    exchange(c, std::move(free));
  } else {
    dial(c);
  }
}

/// The most recently used one: the others may then get old enough to be closed.
std::shared_ptr<client_connection> client_state::take_idle() {
  drop_old();
  while (!idle.empty()) {
    auto last = std::move(idle.back().connection);
    idle.pop_back();
    // Unread bytes since the loop last looked can only be the connection's end.
    if (last->usable() && last->is_quiet()) return last;
    last->close();
  }
  return nullptr;
}

void client_state::dial(const std::shared_ptr<call>& c) {
  c->dialer = std::make_shared<client_dialer>(executor, route);
  c->dialer->run(c->deadline, [self = shared_from_this(), c](client_dialer::result reached) {
    c->dialer.reset();
    if (!reached) return self->finish(c, std::unexpected(std::move(reached.error())));
    self->exchange(c, self->opened(std::move(*reached)));
  });
}

std::shared_ptr<client_connection> client_state::opened(std::shared_ptr<byte_stream> over) {
  auto made = std::make_shared<client_connection>(executor, std::move(over));
  made->start([noted = weak_from_this(), which = made.get()] {
    if (const auto client = noted.lock(); client) client->drop_idle(which);
  });
  return made;
}

void client_state::warm_up(core::time_point deadline) {
  const std::size_t wanted = std::min(limits.warm, limits.connections);
  while (active.size() + idle.size() + warming.size() < wanted) {
    auto dialer = std::make_shared<client_dialer>(executor, route);
    warming.push_back(dialer);
    dialer->run(deadline,
                [self = shared_from_this(), which = dialer.get()](client_dialer::result reached) {
                  std::erase_if(self->warming, [which](const auto& d) { return d.get() == which; });
                  if (reached) self->keep(self->opened(std::move(*reached)));
                });
  }
}

void client_state::exchange(const std::shared_ptr<call>& c,
                            std::shared_ptr<client_connection> over) {
  c->connection = std::move(over);
  c->connection->begin(std::move(c->request),
                       {.reader = reply_reader(limits, reply_reader::form::whole, c->is_head),
                        .taken = nullptr,
                        .ended = [self = shared_from_this(), c](
                                     reply_reader& reader, std::expected<void, std::string> how) {
                          self->replied(c, reader, std::move(how));
                        }});
}

void client_state::replied(const std::shared_ptr<call>& c, reply_reader& reader,
                           std::expected<void, std::string> how) {
  if (!how) return finish(c, std::unexpected(std::move(how.error())));
  client_reply out{reader.head()};
  out.body = reader.take_body();
  if (c->connection->usable()) keep(c->connection);
  if (auto redirect = redirect_text(out); redirect) {
    return finish(c, std::unexpected(std::move(*redirect)));
  }
  finish(c, std::move(out));
}

void client_state::too_late(const std::shared_ptr<call>& c) {
  if (!c->done) return;
  std::string doing = c->connection ? "waiting for the reply" : "waiting for a free connection";
  if (c->dialer) doing = c->dialer->doing();
  // A late reply must not be taken for the reply to another request.
  if (c->connection) c->connection->close();
  if (c->dialer) std::exchange(c->dialer, nullptr)->give_up();
  finish(c, std::unexpected("no answer in time while " + doing));
}

void client_state::finish(const std::shared_ptr<call>& c,
                          std::expected<client_reply, std::string> how) {
  if (closed || !c->done) return;
  const auto self = shared_from_this();
  c->deadline_timer.cancel();
  std::erase(active, c);
  std::erase(c->urgent ? urgent : waiting, c);
  const sending sent = c->connection ? sending::in_doubt : sending::not_sent;
  c->connection.reset();
  reply_handler done = std::exchange(c->done, nullptr);
  pump();
  if (how) return done(std::move(*how));
  done(std::unexpected(client_error{.how = sent, .text = c->summary + ": " + how.error()}));
}

void client_state::keep(std::shared_ptr<client_connection> used) {
  idle.emplace_back(std::move(used), base::boot_now());
  drop_old();
}

void client_state::drop_idle(const client_connection* which) {
  std::erase_if(idle, [which](const idle_connection& i) { return i.connection.get() == which; });
}

/// Closes connections that have been idle too long, and sets the timer for the next one.
void client_state::drop_old() {
  const core::time_point oldest = base::boot_now() - limits.idle;
  while (idle.size() > limits.warm && idle.front().since <= oldest) {
    idle.front().connection->close();
    idle.pop_front();
  }
  if (idle.size() <= limits.warm) {
    idle_timer.cancel();
    return;
  }
  expire_at(idle_timer, idle.front().since + limits.idle);
  idle_timer.async_wait([noted = weak_from_this()](const boost::system::error_code& error) {
    const auto self = noted.lock();
    if (self && !error) self->drop_old();
  });
}

void client_state::close() {
  closed = true;
  idle_timer.cancel();
  // Handlers may own objects whose destructors call this client again.
  const auto unsent = std::pair(std::exchange(urgent, {}), std::exchange(waiting, {}));
  for (const auto& dialer : std::exchange(warming, {})) dialer->stop();
  for (const std::shared_ptr<call>& c : std::exchange(active, {})) {
    if (c->dialer) std::exchange(c->dialer, nullptr)->stop();
    if (c->connection) std::exchange(c->connection, nullptr)->close();
  }
  for (const idle_connection& i : std::exchange(idle, {})) i.connection->close();
  for (const auto& noted : std::exchange(streams, {})) {
    if (const auto stream = noted.lock(); stream) stream->stop();
  }
}

class network_client final : public http_client {
 public:
  explicit network_client(std::shared_ptr<client_state> what) : state_(std::move(what)) {}
  ~network_client() override { state_->close(); }

  std::expected<void, std::string> check() override {
    if (!state_->route->server.tls) return {};
    auto loaded = state_->route->secrets.current();
    if (!loaded) return std::unexpected(std::move(loaded.error()));
    return {};
  }

  void send(client_request what, core::time_point deadline, reply_handler done) override {
    state_->send(std::move(what), deadline, std::move(done));
  }

  void warm_up(core::time_point deadline) override {
    TENURE_CHECK(!state_->closed);
    state_->warm_up(deadline);
  }

  [[nodiscard]] std::unique_ptr<http_stream> stream(client_request what,
                                                    core::time_point head_deadline,
                                                    stream_handlers on) override {
    TENURE_CHECK(!state_->closed);
    auto made = std::make_shared<client_stream>(state_->executor, state_->route, state_->limits,
                                                std::move(on));
    std::erase_if(state_->streams, [](const auto& noted) { return noted.expired(); });
    state_->streams.push_back(made);
    made->start(what, head_deadline);
    return stream_handle(std::move(made));
  }

  void close() override { state_->close(); }

  [[nodiscard]] const settings::endpoint& server() const override { return state_->route->server; }

 private:
  std::shared_ptr<client_state> state_;
};

}  // namespace

std::unique_ptr<http_client> make_http_client(const boost::asio::any_io_executor& where,
                                              settings::endpoint to, tls_settings tls,
                                              client_limits limits) {
  TENURE_CHECK(limits.connections > limits.reserved && limits.waiting > 0);
  return std::make_unique<network_client>(
      std::make_shared<client_state>(where, std::move(to), std::move(tls), limits));
}

http_connector over_network(boost::asio::any_io_executor where) {
  return [where = std::move(where)](settings::endpoint to, tls_settings tls, client_limits limits) {
    return make_http_client(where, std::move(to), std::move(tls), limits);
  };
}

}  // namespace tenure::http
