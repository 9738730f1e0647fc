#include "stores/kubernetes/cluster.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/number_text.hpp"
#include "base/time_text.hpp"
#include "core/check.hpp"
#include "stores/secret_file.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// Connections to one server for calls: in all; reserved for keeping leases; and kept open while
/// idle.
constexpr std::size_t connections = 10;
constexpr std::size_t reserved_connections = 2;
constexpr std::size_t warm_connections = 1;

/// The largest answer: all Leases of a namespace.
constexpr std::size_t most_list_bytes = std::size_t{64} * 1024 * 1024;
constexpr std::size_t most_token_bytes = std::size_t{64} * 1024;
/// How old a token may be before its file is read again. Kubernetes replaces it when four fifths of
/// its life are over.
constexpr core::duration token_lasts = std::chrono::minutes(1);
/// When to ask again a server that is too busy and does not say.
constexpr core::duration usual_retry = std::chrono::milliseconds(200);
constexpr std::int64_t most_retry_seconds = 60;
/// Those who wait for a busy server do not come back all at once: some wait for so much longer.
constexpr int jitter_part = 4;

constexpr unsigned status_busy = 429;

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

/// `text` without the token, which a server, or something in front of it, may send back with all
/// that it was sent. Also without the beginning of a token that is cut off at the end of the text.
std::string without(const std::string& token, std::string text) {
  constexpr std::size_t least = 8;
  constexpr std::string_view shown = "***";
  if (token.empty()) return text;
  const std::string_view beginning = std::string_view(token).substr(0, least);
  for (auto at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at)) {
    std::size_t size = 0;
    while (at + size < text.size() && size < token.size() && text[at + size] == token[size]) ++size;
    text.replace(at, size, shown);
    at += shown.size();
  }
  return text;
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
  bool presses = false;        ///< goes to a busy server now
  bool has_pressed = false;
  std::unique_ptr<base::timer> again{};  ///< while a server is too busy
};

using call_ptr = std::shared_ptr<one_call>;

/// True for an error after which another server may answer differently.
bool is_of_this_endpoint(error_meaning what) {
  return what == error_meaning::unknown || what == error_meaning::unsupported ||
         what == error_meaning::busy;
}

/// One of the API servers.
struct api_server {
  std::unique_ptr<http::http_client> client;
  core::time_point busy_until = core::time_point::min();  ///< by its own word
  std::string busy_why{};
};

/// Divides what is left of a call's time among the servers that may still have to be asked.
core::time_point try_deadline(const one_call& c, core::time_point now) {
  return now + (c.deadline - now) / static_cast<int>(c.endpoints_left + 1);
}

core::duration retry_after(const http::reply_head& what) {
  const std::string* const text = what.value("Retry-After");
  const auto seconds = text == nullptr ? std::nullopt : base::read_number<std::int64_t>(*text);
  if (!seconds || *seconds < 0) return usual_retry;
  return std::max<core::duration>(usual_retry,
                                  std::chrono::seconds(std::min(*seconds, most_retry_seconds)));
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
  void wait_for(const call_ptr& c, core::time_point ready);
  void is_busy(std::size_t endpoint, core::duration pause, std::string why);
  [[nodiscard]] std::size_t ready_from(std::size_t endpoint) const;
  void failed(const call_ptr& c, call_failure why);
  void finish(const call_ptr& c, reply_or_failure outcome);
  void leave(std::size_t endpoint);
  bool read_token_again();
  [[nodiscard]] reply_error judge(unsigned status, std::string body) const;
  void tell(const core::contact_event& what) const {
    if (hears) hears(what);
  }
  [[nodiscard]] std::vector<http::header> headers(const request& what);
  [[nodiscard]] std::string name(std::size_t endpoint) const {
    return settings::text(servers[endpoint].client->server());
  }

  explicit state(base::event_loop& on) : loop(on) {}

  base::event_loop& loop;
  std::vector<api_server> servers;
  std::string token_file;
  std::function<void(const core::contact_event&)> hears;
  std::string if_unauthorized;
  std::string_view if_denied;
  std::size_t present = 0;
  std::string token;  ///< that the file has, or that was given itself
  core::time_point token_read_at = core::time_point::min();
  std::vector<call_ptr> paused;  ///< until a server that is too busy is asked again
  bool closed = false;
};

reply_error cluster::state::judge(unsigned status, std::string body) const {
  return read_error(status, without(token, std::move(body)),
                    {.if_unauthorized = if_unauthorized, .if_denied = if_denied});
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
  if (!token.empty()) out.push_back({.name = "Authorization", .value = "Bearer " + token});
  return out;
}

void cluster::state::send(const call_ptr& c) {
  const core::time_point now = loop.now();
  if (now >= c->deadline) {
    const api_server& asked = servers[c->endpoint];
    if (now < asked.busy_until) {
      return finish(
          c, std::unexpected(call_failure{.meaning = error_meaning::busy, .why = asked.busy_why}));
    }
    return finish(c,
                  std::unexpected(call_failure{.why = "no time is left before its deadline for " +
                                                      c->what.method + " " + c->what.path}));
  }
  c->endpoint = ready_from(c->endpoint);
  const core::time_point ready = servers[c->endpoint].busy_until;
  if (now < ready && !std::exchange(c->presses, false)) return wait_for(c, ready);
  std::vector<http::header> with = headers(c->what);
  c->token = token;
  servers[c->endpoint].client->send(
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
  if (what->status != status_busy) servers[c->endpoint].busy_until = core::time_point::min();
  if (what->status == 200 || what->status == 201) {
    c->answered = true;
    const std::int64_t date = date_in(*what);
    return finish(c, reply{.body = std::move(what->body), .date_ms = date, .sent_at = sent_at});
  }
  const reply_error error = judge(what->status, std::move(what->body));
  // Another call may have read the next token meanwhile.
  if (is_refusal(error.meaning) && !std::exchange(c->read_again, true) &&
      (token != c->token || read_token_again())) {
    return send(c);
  }
  const std::string said = text(error);
  std::string why = name(c->endpoint) + " answered " + std::to_string(what->status) +
                    (said.empty() ? "" : ": ") + said;
  if (error.meaning == error_meaning::busy) {
    is_busy(c->endpoint, retry_after(*what), std::move(why));
    return send(c);
  }
  c->answered = !is_of_this_endpoint(error.meaning);
  failed(c, {.meaning = error.meaning, .why = std::move(why)});
}

void cluster::state::is_busy(std::size_t endpoint, core::duration pause, std::string why) {
  servers[endpoint].busy_until = loop.now() + pause;
  servers[endpoint].busy_why = std::move(why);
  if (endpoint == present) present = ready_from(present);
}

/// This server, or the next one that is not busy; this one if all are.
std::size_t cluster::state::ready_from(std::size_t endpoint) const {
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const std::size_t next = (endpoint + i) % servers.size();
    if (servers[next].busy_until <= loop.now()) return next;
  }
  return endpoint;
}

/// Waits until the server wants to be asked again, or until the deadline. A call that keeps leases
/// asks once more when half of its time is over: without it the lease would run out for certain.
void cluster::state::wait_for(const call_ptr& c, core::time_point ready) {
  const core::time_point now = loop.now();
  const auto more = static_cast<core::duration::rep>(
      loop.random_bits() % static_cast<std::uint64_t>((ready - now).count() / jitter_part + 1));
  core::time_point until = ready + core::duration(more);
  const core::time_point half = now + (c->deadline - now) / 2;
  if (c->as == priority::urgent && half < until && !std::exchange(c->has_pressed, true)) {
    c->presses = true;
    until = half;
  }
  paused.push_back(c);
  c->again = std::make_unique<base::timer>(loop);
  // Neither owns the other: what is paused ends with the state.
  c->again->at(std::min(until, c->deadline), [this, which = c.get()] {
    const auto found = std::ranges::find(paused, which, &call_ptr::get);
    const call_ptr due = std::move(*found);
    paused.erase(found);
    send(due);
  });
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
  if (endpoint == present) present = ready_from((present + 1) % servers.size());
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
                 std::string_view if_denied)
    : state_(std::make_shared<state>(on)) {
  TENURE_CHECK(!endpoints.empty());
  state_->token_file = with.token_file;
  if (with.token_file.empty()) state_->token = with.inlined.token;
  state_->hears = std::move(hears);
  state_->if_unauthorized = what_is_unknown(with);
  state_->if_denied = if_denied;
  const http::tls_settings tls = http::tls_for(with);
  for (const settings::endpoint& one : endpoints) {
    state_->servers.push_back({.client = connect(one, tls,
                                                 {.body_bytes = most_list_bytes,
                                                  .connections = connections,
                                                  .reserved = reserved_connections,
                                                  .waiting = most_calls,
                                                  .warm = warm_connections})});
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
    if (auto checked = one.client->check(); !checked) return checked;
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
      self->is_busy(endpoint, retry_after(came),
                    self->name(endpoint) + " has too much to do to serve a watch");
    }
    head(came);
  };
  return state_->servers[state_->present].client->stream(
      {.method = what.method,
       .target = what.path + (what.query.empty() ? "" : "?") + what.query,
       .headers = state_->headers(what)},
      head_deadline, std::move(on));
}

void cluster::warm_up(core::time_point deadline) {
  state_->servers[state_->present].client->warm_up(deadline);
}

void cluster::move_on() {
  state_->leave(state_->present);
}

void cluster::doubt_token() {
  state_->token_read_at = core::time_point::min();
}

core::time_point cluster::ready_at() const {
  return state_->servers[state_->present].busy_until;
}

reply_error cluster::judge(unsigned status, std::string body) const {
  return state_->judge(status, std::move(body));
}

std::string cluster::without_token(std::string text) const {
  return without(state_->token, std::move(text));
}

std::string cluster::present() const {
  return state_->name(state_->present);
}

void cluster::close() {
  if (std::exchange(state_->closed, true)) return;
  state_->paused.clear();
  for (const auto& one : state_->servers) one.client->close();
}

}  // namespace tenure::stores::kubernetes
