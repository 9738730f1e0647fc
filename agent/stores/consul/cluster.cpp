#include "stores/consul/cluster.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/memory_limit.hpp"
#include "base/number_text.hpp"
#include "base/percent_text.hpp"
#include "core/check.hpp"
#include "stores/busy_servers.hpp"
#include "stores/consul/codec.hpp"
#include "stores/secret_file.hpp"

namespace tenure::stores::consul {
namespace {

/// Connections to one agent for calls: in all; reserved for keeping sessions alive; and kept open
/// while idle. Consul's default limit is 200 for one address (http_max_conns_per_client).
constexpr std::size_t connections = 10;
constexpr std::size_t reserved_connections = 2;
constexpr std::size_t warm_connections = 2;

constexpr std::size_t most_token_bytes = 4096;
/// How old a token may be before its file is looked at again.
constexpr core::duration token_lasts = std::chrono::seconds(1);

struct one_call {
  request what;
  core::time_point deadline;
  cluster::done_handler done;
  priority as = priority::other;
  core::time_point asked_at{};
  bool waits = false;          ///< a blocking query
  bool answered = false;       ///< by the cluster, even with a refusal
  std::size_t endpoint = 0;    ///< being asked now
  std::size_t endpoints_left;  ///< still to be asked after this one
  std::string token{};         ///< that it was sent with
  busy_servers::patience patience{};
};

using call_ptr = std::shared_ptr<one_call>;

/// True for an error after which another agent may answer differently.
bool is_of_this_endpoint(error_meaning what) {
  return what == error_meaning::unknown || what == error_meaning::unsupported;
}

/// Divides what is left of a call's time among the agents that may still have to be asked.
core::time_point try_deadline(const one_call& c, core::time_point now) {
  return now + (c.deadline - now) / static_cast<int>(c.endpoints_left + 1);
}

std::string query_of(const settings::consul& where, const std::string& name_space) {
  std::string out;
  const auto add = [&out](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    out.append(out.empty() ? "" : "&")
        .append(name)
        .append("=")
        .append(base::percent_encoded(value));
  };
  add("dc", where.datacenter);
  add("ns", name_space);
  add("partition", where.partition);
  return out;
}

/// Nothing if it is an answer that the caller has to read. A session that is gone, a path that does
/// not exist, and a transaction that has failed are such: only the caller knows what it asked.
std::optional<reply_error> error_in(const http::client_reply& what) {
  if (what.status == 200 || what.status == 404) return std::nullopt;
  if (what.status != 409) return read_error(what.status, what.body);
  const auto failed = parse_transaction(409, what.body);
  return failed ? read_refusal(failed->failed) : std::nullopt;
}

bool only_reads(const operation& one) {
  return std::holds_alternative<check_index>(one) || std::holds_alternative<check_session>(one) ||
         std::holds_alternative<check_absent>(one) || std::holds_alternative<fetch>(one);
}

/// 0 if there is none, or what is there is not an index.
std::uint64_t index_in(const http::client_reply& what) {
  const std::string* text = what.value("X-Consul-Index");
  const auto index = text == nullptr ? std::nullopt : base::read_number<std::int64_t>(*text);
  return index && *index > 0 ? static_cast<std::uint64_t>(*index) : 0;
}

}  // namespace

struct cluster::state : std::enable_shared_from_this<cluster::state> {
  void send(const call_ptr& c);
  void answered(const call_ptr& c, core::time_point sent_at,
                std::expected<http::client_reply, http::client_error> what);
  void failed(const call_ptr& c, call_failure why);
  void finish(const call_ptr& c, reply_or_failure outcome);
  void leave(std::size_t endpoint);
  void read_token_again();
  void tell(const core::contact_event& what) const {
    if (hears) hears(what);
  }
  [[nodiscard]] std::vector<http::header> headers();
  [[nodiscard]] std::string target(const request& what) const;
  [[nodiscard]] std::string name(std::size_t endpoint) const {
    return settings::text(endpoints[endpoint]->server());
  }

  state(base::event_loop& on, std::size_t agents) : loop(on), busy(on, agents) {}

  base::event_loop& loop;
  std::vector<std::unique_ptr<http::http_client>> endpoints;
  std::vector<std::unique_ptr<http::http_client>> for_waits;
  busy_servers busy;
  std::string token_file;
  std::string query;  ///< what every request has for its query
  tenancy where;      ///< what every operation says
  std::function<void(const core::contact_event&)> hears;
  std::shared_ptr<sent_secrets> sent;
  std::size_t present = 0;
  std::string token;
  core::time_point token_read_at = core::time_point::min();
  bool closed = false;
};

/// A file that cannot be read, as while it is being replaced, leaves the token as it was.
void cluster::state::read_token_again() {
  if (token_file.empty()) return;
  token_read_at = loop.now();
  if (auto read = read_token(token_file, most_token_bytes)) token = std::move(*read);
}

std::vector<http::header> cluster::state::headers() {
  if (token_file.empty()) return {};
  if (token_read_at == core::time_point::min() || loop.now() - token_read_at >= token_lasts) {
    read_token_again();
  }
  if (token.empty()) return {};
  sent->add(token);
  return {{.name = "X-Consul-Token", .value = token}};
}

std::string cluster::state::target(const request& what) const {
  std::string out = what.path;
  const char* joint = "?";
  for (const std::string* part : {&what.query, &query}) {
    if (part->empty()) continue;
    out.append(joint).append(*part);
    joint = "&";
  }
  return out;
}

void cluster::state::send(const call_ptr& c) {
  const core::time_point now = loop.now();
  if (now >= c->deadline) {
    if (c->patience.has_waited) {
      return finish(c, std::unexpected(call_failure{.why = busy.why(c->endpoint)}));
    }
    return finish(c,
                  std::unexpected(call_failure{.why = "no time is left before its deadline for " +
                                                      c->what.method + " " + c->what.path}));
  }
  c->endpoint = busy.ready_from(c->endpoint);
  if (busy.is_busy(c->endpoint) && !std::exchange(c->patience.presses, false)) {
    // Neither owns the other: what waits ends with the state.
    return busy.wait(c->endpoint, c->deadline, c->as == priority::urgent, c->patience,
                     [this, c] { send(c); });
  }
  auto& through = c->waits ? for_waits : endpoints;
  auto with = headers();
  c->token = token;
  through[c->endpoint]->send({.method = c->what.method,
                              .target = target(c->what),
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
  const auto error = error_in(*what);
  if (!error) {
    c->answered = true;
    return finish(c, reply{.status = what->status,
                           .body = std::move(what->body),
                           .index = index_in(*what),
                           .sent_at = sent_at});
  }
  if (is_refusal(error->meaning)) {
    read_token_again();
    // Another call may have read it before this one was refused.
    if (token != c->token) return send(c);
  }
  c->answered = !is_of_this_endpoint(error->meaning);
  std::string said = text(*error);
  if (error->meaning == error_meaning::unauthorized) said += " " + token_file;
  std::string why = name(c->endpoint) + " answered " + std::to_string(what->status) +
                    (said.empty() ? "" : ": ") + said;
  if (what->status == status_busy) {
    busy.is_busy(c->endpoint, retry_after(*what), std::move(why));
    if (c->endpoint == present) present = busy.ready_from(present);
    return send(c);
  }
  failed(c, {.meaning = error->meaning, .why = std::move(why)});
}

void cluster::state::failed(const call_ptr& c, call_failure why) {
  // Anything else is the cluster's answer: the other agents would say the same.
  if (!is_of_this_endpoint(why.meaning)) return finish(c, std::unexpected(std::move(why)));
  leave(c->endpoint);
  if (c->endpoints_left == 0) return finish(c, std::unexpected(std::move(why)));
  --c->endpoints_left;
  c->endpoint = (c->endpoint + 1) % endpoints.size();
  send(c);
}

void cluster::state::leave(std::size_t endpoint) {
  if (endpoint == present) present = busy.ready_from((present + 1) % endpoints.size());
}

/// Calls the handler later, never from within the call.
void cluster::state::finish(const call_ptr& c, reply_or_failure outcome) {
  // The watcher reports the contact of watches.
  if (c->answered && !c->waits) {
    tell(core::contact::answered{});
  } else if (!c->answered && !c->waits) {
    tell(core::contact::failed{.asked_at = c->asked_at, .why = outcome.error().why});
  }
  loop.post([self = shared_from_this(), c, outcome = std::move(outcome)]() mutable {
    if (!self->closed) c->done(std::move(outcome));
  });
}

cluster::cluster(base::event_loop& on, const http::http_connector& connect,
                 const std::vector<settings::endpoint>& endpoints, const settings::security& with,
                 const settings::consul& where, const std::string& name_space,
                 std::size_t most_calls, std::size_t most_waits,
                 std::function<void(const core::contact_event&)> hears,
                 std::shared_ptr<sent_secrets> sent)
    : state_(std::make_shared<state>(on, endpoints.size())) {
  TENURE_CHECK(!endpoints.empty());
  state_->token_file = with.token_file;
  state_->query = query_of(where, name_space);
  state_->where = {.name_space = name_space, .partition = where.partition};
  state_->hears = std::move(hears);
  state_->sent = std::move(sent);
  const http::tls_settings tls = http::tls_for(with);
  // The largest is all keys of a folder of elections.
  const std::size_t most_bytes = base::most_reply_bytes();
  for (const settings::endpoint& one : endpoints) {
    state_->endpoints.push_back(connect(one, tls,
                                        {.body_bytes = most_bytes,
                                         .connections = connections,
                                         .reserved = reserved_connections,
                                         .waiting = most_calls,
                                         .warm = warm_connections}));
    state_->for_waits.push_back(connect(
        one, tls, {.body_bytes = most_bytes, .connections = most_waits, .waiting = most_waits}));
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
  for (const auto& one : state_->endpoints) {
    if (auto checked = one->check(); !checked) return checked;
  }
  return {};
}

request cluster::transaction(std::span<const operation> all) const {
  return {.method = "PUT",
          .path = "/v1/txn",
          .query = std::ranges::all_of(all, only_reads) ? "consistent" : "",
          .body = transaction_request(all, state_->where)};
}

void cluster::call(request what, core::time_point deadline, done_handler done, priority as) {
  state_->send(
      std::make_shared<one_call>(one_call{.what = std::move(what),
                                          .deadline = deadline,
                                          .done = std::move(done),
                                          .as = as,
                                          .asked_at = state_->loop.now(),
                                          .endpoint = state_->present,
                                          .endpoints_left = state_->endpoints.size() - 1}));
}

void cluster::wait(request what, core::time_point deadline, done_handler done) {
  state_->send(std::make_shared<one_call>(one_call{.what = std::move(what),
                                                   .deadline = deadline,
                                                   .done = std::move(done),
                                                   .asked_at = state_->loop.now(),
                                                   .waits = true,
                                                   .endpoint = state_->present,
                                                   .endpoints_left = 0}));
}

void cluster::warm_up(core::time_point deadline) {
  state_->endpoints[state_->present]->warm_up(deadline);
}

void cluster::move_on() {
  state_->leave(state_->present);
}

std::string cluster::present() const {
  return state_->name(state_->present);
}

void cluster::close() {
  if (std::exchange(state_->closed, true)) return;
  state_->busy.close();
  for (const auto& one : state_->endpoints) one->close();
  for (const auto& one : state_->for_waits) one->close();
}

}  // namespace tenure::stores::consul
