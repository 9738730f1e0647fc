#include "stores/kubernetes/cluster.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/memory_limit.hpp"
#include "base/time_text.hpp"
#include "core/check.hpp"
#include "stores/busy_servers.hpp"
#include "stores/secret_file.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// Connections to one server for calls: in all; reserved for keeping leases; and kept open while
/// idle.
constexpr std::size_t connections = 10;
constexpr std::size_t reserved_connections = 2;
constexpr std::size_t warm_connections = 1;

constexpr std::size_t most_token_bytes = std::size_t{64} * 1024;
/// How old a token may be before its file is read again. Kubernetes replaces it when four fifths of
/// its life are over.
constexpr core::duration token_lasts = std::chrono::minutes(1);

/// What the API server does not know, if it does not know who we are.
std::string what_is_unknown(const settings::security& with) {
  if (!with.token_file.empty()) {
    return "the token in " + with.token_file + " is unknown to the API server, or expired";
  }
  if (!with.inlined.token.empty()) {
    return "the token in the kubeconfig is unknown to the API server, or expired";
  }
  if (!with.certificate_file.empty() || !with.inlined.certificate.empty()) {
    return "the client certificate is unknown to the API server, or expired";
  }
  return "say who asks: give a token_file, or certificate_file and key_file";
}

struct one_call {
  request what;
  core::time_point deadline;
  cluster::done_handler done;
  priority as = priority::other;
  core::time_point asked_at{};
  bool answered = false;       ///< by the cluster, even with a refusal
  std::size_t endpoint = 0;    ///< being asked now
  std::size_t endpoints_left;  ///< still to be asked after this one
  std::string token{};         ///< that it was sent with
  bool read_again = false;     ///< the token, because the one before was refused
  busy_servers::patience waits{};
};

using call_ptr = std::shared_ptr<one_call>;

/// True for an error after which another server may answer differently.
bool is_of_this_endpoint(error_meaning what) {
  return what == error_meaning::unknown || what == error_meaning::unsupported ||
         what == error_meaning::busy;
}

/// Divides what is left of a call's time among the servers that may still have to be asked.
core::time_point try_deadline(const one_call& c, core::time_point now) {
  return now + (c.deadline - now) / static_cast<int>(c.endpoints_left + 1);
}

/// In milliseconds since 1970; 0 if it has no such header.
std::int64_t date_in(const http::client_reply& what) {
  const std::string* const text = what.value("Date");
  return text == nullptr ? 0 : base::read_http_date(*text).value_or(0);
}

}  // namespace

struct cluster::state : std::enable_shared_from_this<cluster::state> {
  void send(const call_ptr& c);
  void answered(const call_ptr& c, core::time_point sent_at,
                std::expected<http::client_reply, http::client_error> what);
  void is_busy(std::size_t endpoint, const http::reply_head& what, std::string why);
  void failed(const call_ptr& c, call_failure why);
  void finish(const call_ptr& c, reply_or_failure outcome);
  void leave(std::size_t endpoint);
  bool read_token_again();
  [[nodiscard]] reply_error judge(unsigned status, std::string_view body) const;
  void tell(const core::contact_event& what) const {
    if (hears) hears(what);
  }
  [[nodiscard]] std::vector<http::header> headers(const request& what);
  [[nodiscard]] std::string name(std::size_t endpoint) const {
    return settings::text(servers[endpoint]->server());
  }

  state(base::event_loop& on, std::size_t endpoints) : loop(on), busy(on, endpoints) {}

  base::event_loop& loop;
  std::vector<std::unique_ptr<http::http_client>> servers;
  busy_servers busy;
  std::string token_file;
  std::function<void(const core::contact_event&)> hears;
  std::shared_ptr<sent_secrets> sent;
  std::string if_unauthorized;
  std::string_view if_denied;
  std::size_t present = 0;
  std::optional<std::pair<std::int64_t, core::time_point>> said_date;  ///< and when it came
  std::string token;  ///< that the file has, or that was given itself
  core::time_point token_read_at = core::time_point::min();
  bool closed = false;
};

reply_error cluster::state::judge(unsigned status, std::string_view body) const {
  return read_error(status, body, {.if_unauthorized = if_unauthorized, .if_denied = if_denied});
}

/// True if the file has another token than before. One that cannot be read, as while it is being
/// replaced, leaves the token as it was.
bool cluster::state::read_token_again() {
  if (token_file.empty()) return false;
  token_read_at = loop.now();
  auto read = read_token(token_file, most_token_bytes);
  return read && std::exchange(token, *read) != *read;
}

std::vector<http::header> cluster::state::headers(const request& what) {
  std::vector<http::header> out{{.name = "Accept", .value = "application/json"}};
  if (!what.body.empty()) out.push_back({.name = "Content-Type", .value = what.content_type});
  const bool is_old =
      token_read_at == core::time_point::min() || loop.now() - token_read_at >= token_lasts;
  if (is_old) read_token_again();
  sent->add(token);
  if (!token.empty()) out.push_back({.name = "Authorization", .value = "Bearer " + token});
  return out;
}

void cluster::state::send(const call_ptr& c) {
  const core::time_point now = loop.now();
  if (now >= c->deadline) {
    if (c->waits.has_waited) {
      return finish(c, std::unexpected(call_failure{.meaning = error_meaning::busy,
                                                    .why = busy.why(c->endpoint)}));
    }
    return finish(c,
                  std::unexpected(call_failure{.why = "no time is left before its deadline for " +
                                                      c->what.method + " " + c->what.path}));
  }
  c->endpoint = busy.ready_from(c->endpoint);
  if (busy.is_busy(c->endpoint) && !std::exchange(c->waits.presses, false)) {
    // Neither owns the other: what waits ends with the state.
    return busy.wait(c->endpoint, c->deadline, c->as == priority::urgent, c->waits,
                     [this, c] { send(c); });
  }
  std::vector<http::header> with = headers(c->what);
  c->token = token;
  servers[c->endpoint]->send(
      {.method = c->what.method,
       .target = c->what.path + (c->what.query.empty() ? "" : "?") + c->what.query,
       .headers = std::move(with),
       .body = c->what.body,
       .urgent = c->as == priority::urgent},
      try_deadline(*c, now), [self = shared_from_this(), c, now](auto what) {
        if (!self->closed) self->answered(c, now, std::move(what));
      });
}

void cluster::state::answered(const call_ptr& c, core::time_point sent_at,
                              std::expected<http::client_reply, http::client_error> what) {
  if (!what) return failed(c, {.why = std::move(what.error().text)});
  if (what->status != status_busy) busy.answered(c->endpoint);
  if (what->status == 200 || what->status == 201) {
    c->answered = true;
    const std::int64_t date = date_in(*what);
    if (date != 0) said_date = {date, loop.now()};
    return finish(c, reply{.body = std::move(what->body), .date_ms = date, .sent_at = sent_at});
  }
  const reply_error error = judge(what->status, what->body);
  // Another call may have read the next token meanwhile.
  if (is_refusal(error.meaning) && !std::exchange(c->read_again, true) &&
      (token != c->token || read_token_again())) {
    return send(c);
  }
  const std::string said = text(error);
  std::string why = name(c->endpoint) + " answered " + std::to_string(what->status) +
                    (said.empty() ? "" : ": ") + said;
  if (error.meaning == error_meaning::busy) {
    is_busy(c->endpoint, *what, std::move(why));
    return send(c);
  }
  c->answered = !is_of_this_endpoint(error.meaning);
  failed(c, {.meaning = error.meaning, .why = std::move(why)});
}

void cluster::state::is_busy(std::size_t endpoint, const http::reply_head& what, std::string why) {
  busy.is_busy(endpoint, retry_after(what), std::move(why));
  if (endpoint == present) present = busy.ready_from(present);
}

void cluster::state::failed(const call_ptr& c, call_failure why) {
  // Anything else is the cluster's answer: the other servers would say the same.
  if (!is_of_this_endpoint(why.meaning)) return finish(c, std::unexpected(std::move(why)));
  leave(c->endpoint);
  if (c->endpoints_left == 0) return finish(c, std::unexpected(std::move(why)));
  --c->endpoints_left;
  c->endpoint = (c->endpoint + 1) % servers.size();
  send(c);
}

void cluster::state::leave(std::size_t endpoint) {
  if (endpoint == present) present = busy.ready_from((present + 1) % servers.size());
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

cluster::cluster(base::event_loop& on, const http::http_connector& connect,
                 const std::vector<settings::endpoint>& endpoints, const settings::security& with,
                 std::size_t most_calls, std::function<void(const core::contact_event&)> hears,
                 std::shared_ptr<sent_secrets> sent, std::string_view if_denied)
    : state_(std::make_shared<state>(on, endpoints.size())) {
  TENURE_CHECK(!endpoints.empty());
  state_->token_file = with.token_file;
  if (with.token_file.empty()) state_->token = with.inlined.token;
  state_->hears = std::move(hears);
  state_->sent = std::move(sent);
  state_->if_unauthorized = what_is_unknown(with);
  state_->if_denied = if_denied;
  const http::tls_settings tls = http::tls_for(with);
  // The largest is all Leases of a namespace.
  const std::size_t most_bytes = base::most_reply_bytes();
  for (const settings::endpoint& one : endpoints) {
    state_->servers.push_back(connect(one, tls,
                                      {.body_bytes = most_bytes,
                                       .connections = connections,
                                       .reserved = reserved_connections,
                                       .waiting = most_calls,
                                       .warm = warm_connections}));
  }
}

cluster::~cluster() {
  close();
}

std::expected<void, std::string> cluster::check() {
  if (!state_->token_file.empty()) {
    auto read = read_token(state_->token_file, most_token_bytes);
    if (!read) return std::unexpected(std::move(read.error()));
  }
  for (const auto& one : state_->servers) {
    if (auto checked = one->check(); !checked) return checked;
  }
  return {};
}

void cluster::call(request what, core::time_point deadline, done_handler done, priority as) {
  state_->send(std::make_shared<one_call>(one_call{.what = std::move(what),
                                                   .deadline = deadline,
                                                   .done = std::move(done),
                                                   .as = as,
                                                   .asked_at = state_->loop.now(),
                                                   .endpoint = state_->present,
                                                   .endpoints_left = state_->servers.size() - 1}));
}

std::unique_ptr<http::http_stream> cluster::stream(const request& what,
                                                   core::time_point head_deadline,
                                                   http::stream_handlers on) {
  on.head = [self = state_, endpoint = state_->present,
             head = std::move(on.head)](const http::reply_head& came) mutable {
    if (came.status == status_busy) {
      self->is_busy(endpoint, came, self->name(endpoint) + " has too much to do to serve a watch");
    }
    head(came);
  };
  return state_->servers[state_->present]->stream(
      {.method = what.method,
       .target = what.path + (what.query.empty() ? "" : "?") + what.query,
       .headers = state_->headers(what)},
      head_deadline, std::move(on));
}

void cluster::warm_up(core::time_point deadline) {
  state_->servers[state_->present]->warm_up(deadline);
}

void cluster::move_on() {
  state_->leave(state_->present);
}

void cluster::doubt_token() {
  state_->token_read_at = core::time_point::min();
}

core::time_point cluster::ready_at() const {
  return state_->busy.until(state_->present);
}

reply_error cluster::judge(unsigned status, std::string_view body) const {
  return state_->judge(status, body);
}

std::int64_t cluster::date_ms() const {
  if (!state_->said_date) return 0;
  const auto& [date_ms, came_at] = *state_->said_date;
  const auto since =
      std::chrono::duration_cast<std::chrono::milliseconds>(state_->loop.now() - came_at);
  return date_ms + since.count();
}

std::string cluster::present() const {
  return state_->name(state_->present);
}

void cluster::close() {
  if (std::exchange(state_->closed, true)) return;
  state_->busy.close();
  for (const auto& one : state_->servers) one->close();
}

}  // namespace tenure::stores::kubernetes
