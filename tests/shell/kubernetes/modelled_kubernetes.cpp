#include "kubernetes/modelled_kubernetes.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/number_text.hpp"
#include "core/sometimes.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// From 1970 to the beginning of the world, as for the pods.
constexpr core::duration long_ago = 10'000h;
/// etcd fails a request that finds no leader after so long.
constexpr core::duration longest_request = 7s;
constexpr core::duration longest_way = 3ms;
constexpr core::duration least_way = 20us;
constexpr core::duration most_clock_off = 800ms;
constexpr core::duration least_between_bookmarks = 5s;
constexpr core::duration most_between_bookmarks = 60s;
constexpr std::uint32_t half = 500'000;
/// ".../namespaces/default/leases" has so many segments before the name of a Lease.
constexpr std::size_t segments_of_leases = 6;

const std::string* parameter(const http::request_target& of, std::string_view name) {
  const auto found = std::ranges::find(of.query, name, &http::parameter::name);
  return found == of.query.end() ? nullptr : &found->value;
}

std::uint64_t number_in(const http::request_target& of, std::string_view name) {
  const std::string* const text = parameter(of, name);
  return text == nullptr ? 0 : base::read_number<std::uint64_t>(*text).value_or(0);
}

std::string event_text(const char* type, const std::string& object) {
  return std::string(R"({"type":")") + type + R"(","object":)" + object + "}\n";
}

/// As it was last, with the revision of its deletion.
std::string deleted_text(const lease_change& what) {
  json last = what.before->object;
  last["metadata"]["resourceVersion"] = std::to_string(what.revision);
  return last.dump();
}

}  // namespace

modelled_kubernetes::modelled_kubernetes(world& in, judge& seen_by)
    : modelled_cluster(in, {.applied = [this](std::size_t m) { cache_later(m); },
                            .stopped = [this](std::size_t m) { stopped(m); },
                            .leaderless = [this](std::size_t m) { leaderless(m); },
                            .elected = [] {}}),
      world_(in),
      terms_(in, seen_by),
      calls_(in, members_, [this](const call_ptr& c) { take(c); }) {
  for (api_server& one : servers_) {
    one.clock_off = world_.dice.between(-most_clock_off, most_clock_off);
    one.oldest = one.cached = objects_.revision();
  }
}

// Requests ----------------------------------------------------------------------------------------

void modelled_kubernetes::handle(std::size_t server, http::client_request asked, reply done) {
  calls_.arrive(server, std::move(asked), std::move(done));
}

void modelled_kubernetes::take(const call_ptr& c) {
  const mood how = servers_[c->server].how;
  if (how.status != 0 && is_moody(c->server)) {
    return answer(c, {.status = how.status, .body = api_failure(how.status, how.reason, "not now")},
                  how.retry_after_s);
  }
  const auto& path = c->target.segments;
  const std::string& method = c->asked.method;
  if (path.size() == 1 && path[0] == "version") {
    return answer(c, {.body = json{{"gitVersion", "v1.35.4"}}.dump()});
  }
  if (path.back() == "selfsubjectaccessreviews") {
    return answer(c, {.status = 201,
                      .body = json{{"kind", "SelfSubjectAccessReview"},
                                   {"apiVersion", "authorization.k8s.io/v1"},
                                   {"status", {{"allowed", true}}}}
                                  .dump()});
  }
  const std::string name = path.size() > segments_of_leases ? path[segments_of_leases] : "";
  const std::string& body = c->asked.body;
  if (method == "POST") {
    const std::int64_t now_ms = wall_ms(c->server);
    if (parameter(c->target, "dryRun") != nullptr) {
      return read(c, [this, &body, now_ms] { return objects_.create(body, now_ms, true); });
    }
    return write(c, [this, &body, now_ms] { return objects_.create(body, now_ms, false); });
  }
  if (method == "PATCH")
    return write(c, [this, name, &body] { return objects_.patch(name, body); });
  if (method == "PUT") return write(c, [this, name, &body] { return objects_.put(name, body); });
  if (method == "DELETE") {
    return write(c, [this, name, &body] { return objects_.erase(name, body); });
  }
  if (!name.empty()) {
    return read(c, [this, name] {
      const lease_state found = objects_.find(name);
      if (found != nullptr) return api_answer{.body = found->text};
      return api_answer{.status = 404, .body = api_failure(404, "NotFound", name + " not found")};
    });
  }
  const std::string* const at_least = parameter(c->target, "resourceVersion");
  if (at_least != nullptr && *at_least == "0") {
    return answer(
        c, {.body = objects_.list_as_of(lease_selector(c->target), servers_[c->server].cached)});
  }
  read(c, [this, c] { return api_answer{.body = objects_.list(lease_selector(c->target))}; });
}

/// Linearizable: through etcd's leader, and answered once its member here has applied as much.
void modelled_kubernetes::read(const call_ptr& c, std::function<api_answer()> what) {
  const auto found = std::make_shared<api_answer>();
  members_.propose(
      c->server,
      [this, found, what = std::move(what)] {
        *found = what();
        return objects_.revision();
      },
      [this, c, found](bool done) { done ? answer(c, std::move(*found)) : fail_later(c); });
}

void modelled_kubernetes::write(const call_ptr& c, std::function<api_answer()> what) {
  const auto found = std::make_shared<api_answer>();
  members_.propose(
      c->server,
      [this, found, what = std::move(what)] {
        *found = what();
        wrote(lease_terms::writer::client);
        return objects_.revision();
      },
      [this, c, found](bool done) {
        if (!done) return fail_later(c);
        if (servers_[c->server].how.status != 0 || !is_moody(c->server)) {
          return answer(c, std::move(*found));
        }
        if (world_.dice.chance(half)) return calls_.reset(c);
        answer(c, {.status = 504,
                   .body = api_failure(504, "Timeout", "request did not complete in time")});
      });
}

void modelled_kubernetes::answer(const call_ptr& c, api_answer what, std::int64_t retry_after_s) {
  http::client_reply out{{.status = what.status}};
  out.body = std::move(what.body);
  out.headers.push_back(date(c->server));
  if (retry_after_s > 0) {
    out.headers.push_back({.name = "Retry-After", .value = std::to_string(retry_after_s)});
  }
  calls_.answer(c, std::move(out));
}

void modelled_kubernetes::fail_later(const call_ptr& c) {
  world_.after(world_.dice.spread(5ms, longest_request), [this, c] {
    answer(c, {.status = 500,
               .body = api_failure(500, "InternalError",
                                   world_.dice.chance(half) ? "etcdserver: leader changed"
                                                            : "etcdserver: request timed out")});
  });
}

void modelled_kubernetes::tell_terms(lease_terms::writer by) {
  while (told_ < objects_.changes().size()) {
    const lease_change what = objects_.changes()[told_++];
    terms_.changed(what, by);
  }
}

void modelled_kubernetes::wrote(lease_terms::writer by) {
  tell_terms(by);
  members_.commit(objects_.revision());
}

// Watches -----------------------------------------------------------------------------------------

std::shared_ptr<served_stream> modelled_kubernetes::make_stream() {
  return std::make_shared<watch>();
}

void modelled_kubernetes::open(std::size_t server, const std::shared_ptr<served_stream>& one,
                               const http::client_request& asked) {
  if (!members_.up(server)) return;
  auto w = std::static_pointer_cast<watch>(one);
  w->server = server;
  const auto target = *http::parse_target(asked.target);
  if (!members_.frozen(server)) return begin(w, target);
  members_.when_thawed(server, [this, w, target] { begin(w, target); });
}

void modelled_kubernetes::begin(const watch_ptr& one, const http::request_target& asked) {
  if (one->closed) return;
  api_server& at = servers_[one->server];
  if (at.how.status != 0 && is_moody(one->server)) {
    return refuse(one, at.how.status, at.how.reason, at.how.retry_after_s);
  }
  if (!is_ready(one->server)) return refuse(one, 429, "TooManyRequests", 1);
  one->of.emplace(asked);
  one->shown = number_in(asked, "resourceVersion");
  if (one->shown < at.oldest) {
    TENURE_SOMETIMES(model_watch_begins_before_what_is_kept);
    if (world_.dice.chance(half)) return refuse(one, 410, "Expired", 0);
    one->head({.status = 200, .headers = {date(one->server)}});
    one->data(event_text("ERROR", api_failure(410, "Expired", "too old resource version")));
    return one->end();
  }
  one->head({.status = 200, .headers = {date(one->server)}});
  at.watches.push_back(one);
  const auto lasts = std::chrono::seconds(number_in(asked, "timeoutSeconds"));
  world_.after(lasts, [noted = std::weak_ptr(one)] {
    const auto there = noted.lock();
    if (there && !there->closed) there->end();
  });
  bookmark_later(one);
  show(one, at.cached);
}

void modelled_kubernetes::refuse(const watch_ptr& one, unsigned status, const std::string& reason,
                                 std::int64_t retry_after_s) {
  http::reply_head head{.status = status, .headers = {date(one->server)}};
  if (retry_after_s > 0) {
    head.headers.push_back({.name = "Retry-After", .value = std::to_string(retry_after_s)});
  }
  one->head(head);
  one->data(api_failure(status, reason, "no watch now"));
  one->end();
}

void modelled_kubernetes::bookmark_later(const watch_ptr& one) {
  world_.after(
      world_.dice.between(least_between_bookmarks, most_between_bookmarks),
      [this, noted = std::weak_ptr(one)] {
        const auto there = noted.lock();
        if (!there || there->closed || !members_.up(there->server)) return;
        bookmark_later(there);
        if (members_.frozen(there->server) || servers_[there->server].cached < there->shown) return;
        const json object{{"kind", "Lease"},
                          {"apiVersion", "coordination.k8s.io/v1"},
                          {"metadata", {{"resourceVersion", std::to_string(there->shown)}}},
                          {"spec", json::object()}};
        there->data(event_text("BOOKMARK", object.dump()));
      });
}

/// The member of etcd on this machine has applied more.
void modelled_kubernetes::cache_later(std::size_t server) {
  api_server& at = servers_[server];
  const core::duration takes = world_.dice.spread(least_way, longest_way) +
                               world_.dice.between(core::duration{}, at.watch_lag);
  at.caches_at = std::max(at.caches_at, world_.now + takes);
  world_.at(at.caches_at,
            [this, server, revision = members_.applied(server), cluster = members_.cluster_id()] {
              const auto go = [this, server, revision, cluster] {
                if (cluster == members_.cluster_id()) cache(server, revision);
              };
              if (!members_.up(server)) return;
              members_.frozen(server) ? members_.when_thawed(server, go) : go();
            });
}

void modelled_kubernetes::cache(std::size_t server, std::uint64_t revision) {
  api_server& at = servers_[server];
  if (revision <= at.cached) return;
  at.cached = revision;
  forget_closed(server);
  for (const watch_ptr& one : std::vector(at.watches)) show(one, revision);
}

void modelled_kubernetes::show(const watch_ptr& one, std::uint64_t up_to) {
  if (one->closed || up_to <= one->shown) return;
  const auto& all = objects_.changes();
  auto next = std::ranges::upper_bound(all, one->shown, {}, &lease_change::revision);
  std::string text;
  for (; next != all.end() && next->revision <= up_to; ++next) {
    const bool was_there = one->of->selects(next->before);
    const bool is_there = one->of->selects(next->after);
    if (is_there) {
      text += event_text(was_there ? "MODIFIED" : "ADDED", next->after->text);
    } else if (was_there) {
      text += event_text("DELETED", deleted_text(*next));
    }
  }
  one->shown = up_to;
  if (!text.empty()) one->data(std::move(text));
}

void modelled_kubernetes::forget_closed(std::size_t server) {
  std::erase_if(servers_[server].watches, [](const watch_ptr& one) { return one->closed; });
}

void modelled_kubernetes::end_watches(std::size_t server, bool by_reset) {
  for (const watch_ptr& one : std::exchange(servers_[server].watches, {})) {
    if (!one->closed) by_reset ? one->reset() : one->end();
  }
}

// What happens at the servers ---------------------------------------------------------------------

void modelled_kubernetes::stopped(std::size_t server) {
  for (const call_ptr& c : calls_.open_at(server)) calls_.reset(c);
  end_watches(server, true);
  api_server& at = servers_[server];
  // Its next process reads everything anew.
  at.oldest = objects_.revision();
  at.has_cache = true;
}

/// Its cache cannot be kept up to date, and is made anew once etcd can be reached.
void modelled_kubernetes::leaderless(std::size_t server) {
  servers_[server].has_cache = false;
  end_watches(server, false);
}

/// Lists everything anew if its cache is gone and etcd can be reached.
bool modelled_kubernetes::is_ready(std::size_t server) {
  api_server& at = servers_[server];
  if (at.has_cache) return true;
  if (!members_.led() || !members_.well(server)) return false;
  at.cached = std::max(at.cached, members_.applied(server));
  at.oldest = std::max(at.oldest, at.cached);
  return at.has_cache = true;
}

void modelled_kubernetes::compact() {
  for (std::size_t s = 0; s < most_servers; ++s) servers_[s].oldest = servers_[s].cached;
}

void modelled_kubernetes::restore(const backup& from, std::uint64_t raised_by) {
  objects_.restore(from.objects, raised_by);
  told_ = 0;
  members_.begin_anew(objects_.revision(), members_.cluster_id() + 1);
  for (api_server& one : servers_) {
    one.oldest = one.cached = objects_.revision();
    one.caches_at = world_.now;
    one.has_cache = true;
  }
  terms_.restore(from.terms, objects_);
}

// Operators ---------------------------------------------------------------------------------------

bool modelled_kubernetes::edit(const std::string& name, const std::function<void(json&)>& by) {
  if (!members_.led() || !objects_.edit(name, by)) return false;
  wrote(lease_terms::writer::operator_);
  return true;
}

bool modelled_kubernetes::erase(const std::string& name) {
  if (!members_.led() || !objects_.remove(name)) return false;
  wrote(lease_terms::writer::operator_);
  return true;
}

std::optional<std::string> modelled_kubernetes::any_held(const std::string& election) {
  std::vector<std::string> held;
  for (const auto& [name, one] : terms_.all()) {
    if (one.election == election) held.push_back(name);
  }
  if (held.empty()) return std::nullopt;
  return held[world_.dice.below(held.size())];
}

bool modelled_kubernetes::delete_one(const std::string& election) {
  return erase(any_held(election).value_or(election));
}

bool modelled_kubernetes::revoke_one(const std::string& election) {
  const auto held = any_held(election);
  return held && edit(*held, [](json& lease) { lease["spec"].erase("holderIdentity"); });
}

void modelled_kubernetes::others_write(std::uint64_t how_many) {
  if (!members_.led()) return;
  objects_.raise(how_many);
  members_.commit(objects_.revision());
}

// What is true ------------------------------------------------------------------------------------

std::int64_t modelled_kubernetes::wall_ms(std::size_t server) const {
  const core::duration now = long_ago + world_.now.time_since_epoch() + servers_[server].clock_off;
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// "Sun, 06 Nov 1994 08:49:37 GMT"
http::header modelled_kubernetes::date(std::size_t server) const {
  constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_time<std::chrono::milliseconds> now{
      std::chrono::milliseconds(wall_ms(server))};
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day on(day);
  const std::chrono::hh_mm_ss at(std::chrono::floor<std::chrono::seconds>(now - day));
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                days.at(std::chrono::weekday(day).c_encoding()), static_cast<unsigned>(on.day()),
                months.at(static_cast<unsigned>(on.month()) - 1), static_cast<int>(on.year()),
                static_cast<int>(at.hours().count()), static_cast<int>(at.minutes().count()),
                static_cast<int>(at.seconds().count()));
  return {.name = "Date", .value = text.data()};
}

std::optional<std::size_t> modelled_kubernetes::listed(const std::string& election,
                                                       const std::string& identity) const {
  const std::string prefix = election + ".member-";
  std::size_t out = 0;
  for (const auto& [name, one] : objects_.all()) {
    if (!name.starts_with(prefix)) continue;
    const json& spec = one->object.at("spec");
    if (spec.value("holderIdentity", "").starts_with(identity + "_")) ++out;
  }
  return out;
}

std::string modelled_kubernetes::describe() const {
  std::string out = "revision " + std::to_string(objects_.revision()) + ", " + members_.describe() +
                    ", " + std::to_string(objects_.all().size()) + " Leases";
  for (std::size_t s = 0; s < most_servers; ++s) {
    out += "; " + members_.describe(s) + ", shows " + std::to_string(servers_[s].cached) + " on " +
           std::to_string(servers_[s].watches.size()) + " watches";
  }
  return out;
}

}  // namespace tenure::shell
