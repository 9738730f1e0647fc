#include "stores/etcd/cluster.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "core/check.hpp"
#include "stores/busy_servers.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/secret_file.hpp"

namespace tenure::stores::etcd {
namespace {

constexpr const char* authenticate_path = "/v3/auth/authenticate";
/// Sign-ins per call. A server that forgets each token at once is broken.
constexpr int most_sign_ins = 2;
/// Connections to one endpoint: in all; reserved for keeping leases alive; and kept open while
/// idle. A takeover sends a lease and a key at once, and should not have to connect first.
constexpr std::size_t connections = 10;
constexpr std::size_t reserved_connections = 2;
constexpr std::size_t warm_connections = 2;

constexpr std::size_t most_password_bytes = 4096;

std::expected<std::string, std::string> read_password(const std::string& file) {
  return read_secret("the password file", file, most_password_bytes);
}

std::string describe(const gateway_error& e, const std::string& where) {
  const std::string out = where + " answered " + std::to_string(e.status);
  return out + (e.message.empty() ? "" : ": ") + text(e);
}

struct one_call {
  std::string path;
  std::string body;
  core::time_point deadline;
  cluster::done_handler done;
  priority as = priority::other;
  core::time_point asked_at{};
  bool answered = false;       ///< by the cluster, even with a refusal
  std::size_t endpoint = 0;    ///< being asked now
  std::size_t endpoints_left;  ///< still to be asked after this one
  int sign_ins = 0;
  bool joined = false;                    ///< waits for a sign-in that began before it
  std::optional<base::timer> patience{};  ///< while it waits for a token
  busy_servers::patience waits{};
};

using call_ptr = std::shared_ptr<one_call>;

/// True for an error after which another endpoint may answer differently.
bool is_of_this_endpoint(error_meaning what) {
  return what == error_meaning::unknown || what == error_meaning::unsupported;
}

/// Divides what is left of a call's time among the endpoints that may still have to be asked.
core::time_point try_deadline(const one_call& c, core::time_point now) {
  return now + (c.deadline - now) / static_cast<int>(c.endpoints_left + 1);
}

}  // namespace

struct cluster::state : std::enable_shared_from_this<cluster::state> {
  void send(const call_ptr& c);
  void answered(const call_ptr& c, core::time_point sent_at,
                std::expected<http::client_reply, http::client_error> what);
  void failed(const call_ptr& c, call_failure why);
  void finish(const call_ptr& c, reply_or_failure outcome);
  void sign_in(const call_ptr& c);
  void ask_for_token();
  void signed_in(std::expected<void, call_failure> outcome);
  void wait_for_token(const call_ptr& c);
  void leave(std::size_t endpoint);
  void is_busy(std::size_t endpoint, const http::reply_head& what, std::string why);
  void tell(const core::contact_event& what) const {
    if (hears) hears(what);
  }
  [[nodiscard]] std::vector<http::header> headers() const;
  [[nodiscard]] std::string name(std::size_t endpoint) const {
    return settings::text(endpoints[endpoint]->server());
  }

  state(base::event_loop& on, std::size_t servers) : loop(on), busy(on, servers) {}

  base::event_loop& loop;
  std::vector<std::unique_ptr<http::http_client>> endpoints;
  busy_servers busy;
  settings::security secrets;
  std::function<void()> moved;
  std::function<void(const core::contact_event&)> hears;
  std::shared_ptr<sent_secrets> sent;
  std::size_t present = 0;
  std::string token;  ///< empty: not signed in, or not needed
  bool token_needed = false;
  std::deque<call_ptr> for_token;  ///< calls that wait for a token
  bool signing_in = false;
  bool closed = false;
};

std::vector<http::header> cluster::state::headers() const {
  if (token.empty()) return {};
  sent->add(token);
  return {{.name = "Authorization", .value = token}};
}

void cluster::state::send(const call_ptr& c) {
  const core::time_point now = loop.now();
  if (now >= c->deadline) {
    if (c->waits.has_waited) {
      return finish(c, std::unexpected(call_failure{.why = busy.why(c->endpoint)}));
    }
    return finish(c, std::unexpected(call_failure{
                         .why = "no time is left before its deadline for POST " + c->path}));
  }
  c->endpoint = busy.ready_from(c->endpoint);
  if (busy.is_busy(c->endpoint) && !std::exchange(c->waits.presses, false)) {
    // Neither owns the other: what waits ends with the state.
    return busy.wait(c->endpoint, c->deadline, c->as == priority::urgent, c->waits,
                     [this, c] { send(c); });
  }
  if (token_needed && token.empty()) return sign_in(c);
  endpoints[c->endpoint]->send({.method = c->body.empty() ? "GET" : "POST",
                                .target = c->path,
                                .headers = headers(),
                                .body = c->body,
                                .urgent = c->as == priority::urgent},
                               try_deadline(*c, now),
                               [self = shared_from_this(), c, now](auto what) {
                                 if (!self->closed) self->answered(c, now, std::move(what));
                               });
}

void cluster::state::answered(const call_ptr& c, core::time_point sent_at,
                              std::expected<http::client_reply, http::client_error> what) {
  if (!what) return failed(c, {.why = std::move(what.error().text)});
  if (what->status != status_busy) busy.answered(c->endpoint);
  // A streamed reply carries its errors inside.
  if (what->status == 200 && !what->body.starts_with("{\"error\"")) {
    c->answered = true;
    return finish(
        c, reply{.body = std::move(what->body), .sent_at = sent_at, .endpoint = c->endpoint});
  }
  const gateway_error error = read_error(what->status, what->body);
  if (error.meaning == error_meaning::unauthenticated && !secrets.user.empty() &&
      c->sign_ins < most_sign_ins) {
    token.clear();
    token_needed = true;
    return sign_in(c);
  }
  // With this status etcd also says that its disk is full.
  if (what->status == status_busy && error.meaning == error_meaning::unknown) {
    is_busy(c->endpoint, *what, describe(error, name(c->endpoint)));
    return send(c);
  }
  c->answered = !is_of_this_endpoint(error.meaning);
  failed(c, {.meaning = error.meaning, .why = describe(error, name(c->endpoint))});
}

void cluster::state::failed(const call_ptr& c, call_failure why) {
  // Anything else is the cluster's answer: the other endpoints would say the same.
  if (!is_of_this_endpoint(why.meaning)) return finish(c, std::unexpected(std::move(why)));
  leave(c->endpoint);
  if (closed) return;
  if (c->endpoints_left == 0) return finish(c, std::unexpected(std::move(why)));
  --c->endpoints_left;
  c->endpoint = (c->endpoint + 1) % endpoints.size();
  send(c);
}

void cluster::state::leave(std::size_t endpoint) {
  if (endpoint != present || endpoints.size() == 1) return;
  present = busy.ready_from((present + 1) % endpoints.size());
  moved();
}

void cluster::state::is_busy(std::size_t endpoint, const http::reply_head& what, std::string why) {
  busy.is_busy(endpoint, retry_after(what), std::move(why));
  if (endpoint == present && std::exchange(present, busy.ready_from(present)) != present) moved();
}

/// Calls the handler later, never from within the call.
void cluster::state::finish(const call_ptr& c, reply_or_failure outcome) {
  if (c->answered) {
    tell(core::contact::answered{});
  } else {
    tell(core::contact::failed{.asked_at = c->asked_at, .why = outcome.error().why});
  }
  loop.post([self = shared_from_this(), c, outcome = std::move(outcome)]() mutable {
    if (!self->closed) c->done(std::move(outcome));
  });
}

/// One sign-in at a time; calls that need a token meanwhile wait for it.
void cluster::state::sign_in(const call_ptr& c) {
  ++c->sign_ins;
  c->joined = signing_in;
  wait_for_token(c);
  if (!signing_in) ask_for_token();
}

/// Signs in for all that wait, with the password that is in the file now.
/// Precondition: at least one call waits, and no sign-in is under way.
void cluster::state::ask_for_token() {
  signing_in = true;
  for (const call_ptr& one : for_token) one->joined = false;
  const call_ptr c = for_token.front();
  const auto password = read_password(secrets.password_file);
  if (!password) {
    return signed_in(
        std::unexpected(call_failure{.meaning = error_meaning::denied, .why = password.error()}));
  }
  const std::size_t endpoint = c->endpoint;
  sent->add(*password);
  endpoints[endpoint]->send(
      {.method = "POST",
       .target = authenticate_path,
       .body = authenticate_request(secrets.user, *password),
       .urgent = true},
      try_deadline(*c, loop.now()), [self = shared_from_this(), endpoint](auto what) {
        if (self->closed) return;
        if (!what) return self->signed_in(std::unexpected(call_failure{.why = what.error().text}));
        if (what->status != 200) {
          const gateway_error error = read_error(what->status, what->body);
          if (what->status == status_busy) {
            self->is_busy(endpoint, *what, describe(error, self->name(endpoint)));
          }
          // Authentication may be switched off by now: then no token is needed.
          if (error.meaning == error_meaning::auth_disabled) {
            self->token_needed = false;
            return self->signed_in({});
          }
          return self->signed_in(
              std::unexpected(call_failure{.meaning = error.meaning,
                                           .why = "cannot sign in as \"" + self->secrets.user +
                                                  "\": " + describe(error, self->name(endpoint))}));
        }
        auto parsed = parse_authenticate(what->body);
        if (!parsed)
          return self->signed_in(std::unexpected(call_failure{.why = parsed.error().why}));
        self->token = std::move(parsed->token);
        self->signed_in({});
      });
}

/// The sign-in under way may belong to a call with a later deadline.
void cluster::state::wait_for_token(const call_ptr& c) {
  for_token.push_back(c);
  c->patience.emplace(loop);
  c->patience->at(c->deadline, [noted = weak_from_this(), late = std::weak_ptr(c)] {
    const auto self = noted.lock();
    const auto one = late.lock();
    if (!self || !one || self->closed) return;
    if (std::erase(self->for_token, one) == 0) return;
    self->finish(one, std::unexpected(call_failure{
                          .why = self->name(one->endpoint) + " did not let us sign in as \"" +
                                 self->secrets.user + "\" in time for POST " + one->path}));
  });
}

/// A refusal is not for the calls that joined: the password may have been changed since it was
/// read. They sign in anew, all at once.
void cluster::state::signed_in(std::expected<void, call_failure> outcome) {
  signing_in = false;
  auto waiting = std::exchange(for_token, {});
  if (!outcome && !is_of_this_endpoint(outcome.error().meaning)) {
    const auto joined = [](const call_ptr& c) { return c->joined; };
    std::ranges::copy_if(waiting, std::back_inserter(for_token), joined);
    std::erase_if(waiting, joined);
  }
  for (const call_ptr& c : waiting) c->patience.reset();
  for (const call_ptr& c : waiting) {
    if (outcome) {
      send(c);
    } else {
      failed(c, outcome.error());
    }
    if (closed) return;
  }
  if (!for_token.empty() && !signing_in) ask_for_token();
}

cluster::cluster(base::event_loop& on, const http::http_connector& connect,
                 const std::vector<settings::endpoint>& endpoints, const settings::security& with,
                 std::size_t most_calls, std::function<void()> moved,
                 std::function<void(const core::contact_event&)> hears,
                 std::shared_ptr<sent_secrets> sent)
    : state_(std::make_shared<state>(on, endpoints.size())) {
  TENURE_CHECK(!endpoints.empty());
  state_->secrets = with;
  state_->token_needed = !with.user.empty();
  state_->moved = std::move(moved);
  state_->hears = std::move(hears);
  state_->sent = std::move(sent);
  const http::tls_settings tls = http::tls_for(with);
  for (const settings::endpoint& one : endpoints) {
    state_->endpoints.push_back(connect(one, tls,
                                        {.connections = connections,
                                         .reserved = reserved_connections,
                                         .waiting = most_calls,
                                         .warm = warm_connections}));
  }
}

cluster::~cluster() {
  close();
}

std::expected<void, std::string> cluster::check() {
  if (!state_->secrets.user.empty()) {
    if (auto read = read_password(state_->secrets.password_file); !read) {
      return std::unexpected(read.error());
    }
  }
  for (const auto& one : state_->endpoints) {
    if (auto checked = one->check(); !checked) return checked;
  }
  return {};
}

void cluster::call(std::string path, std::string body, core::time_point deadline, done_handler done,
                   priority as) {
  auto c = std::make_shared<one_call>();
  c->path = std::move(path);
  c->body = std::move(body);
  c->deadline = deadline;
  c->done = std::move(done);
  c->as = as;
  c->asked_at = state_->loop.now();
  c->endpoint = state_->present;
  c->endpoints_left = state_->endpoints.size() - 1;
  state_->send(c);
}

std::unique_ptr<http::http_stream> cluster::stream(std::string path, std::string body,
                                                   core::time_point head_deadline,
                                                   http::stream_handlers on) {
  on.head = [self = state_, endpoint = state_->present,
             head = std::move(on.head)](const http::reply_head& came) mutable {
    if (came.status == status_busy) {
      self->is_busy(endpoint, came, self->name(endpoint) + " has too much to do to serve a watch");
    }
    head(came);
  };
  auto headers = state_->headers();
  // Without this, Go's server drops the unread rest of the body once its first reply leaves.
  headers.push_back({.name = "Connection", .value = "close"});
  // With this, an endpoint that loses its leader ends the watch instead of keeping it open in
  // silence.
  headers.push_back({.name = "Grpc-Metadata-hasleader", .value = "true"});
  return state_->endpoints[state_->present]->stream({.method = "POST",
                                                     .target = std::move(path),
                                                     .headers = std::move(headers),
                                                     .body = std::move(body),
                                                     .open = true},
                                                    head_deadline, std::move(on));
}

void cluster::warm_up(core::time_point deadline) {
  state_->endpoints[state_->present]->warm_up(deadline);
}

void cluster::move_on() {
  state_->leave(state_->present);
}

void cluster::prefer(std::size_t endpoint) {
  TENURE_CHECK(endpoint < state_->endpoints.size());
  if (std::exchange(state_->present, endpoint) != endpoint) state_->moved();
}

std::string cluster::present() const {
  return state_->name(state_->present);
}

void cluster::close() {
  if (std::exchange(state_->closed, true)) return;
  state_->busy.close();
  for (const call_ptr& c : std::exchange(state_->for_token, {})) c->patience.reset();
  for (const auto& one : state_->endpoints) one->close();
}

}  // namespace tenure::stores::etcd
