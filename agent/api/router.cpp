#include "api/router.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "api/responses.hpp"
#include "api/status_page.hpp"
#include "base/duration_text.hpp"
#include "base/number_text.hpp"
#include "core/timing.hpp"
#include "wire/order.hpp"

namespace tenure::api {
namespace {

using path = std::vector<std::string>;
using refused = std::unexpected<http::response>;

/// The most elections that an error names; a list of ten thousand helps nobody.
constexpr std::size_t max_names_in_error = 8;

constexpr std::string_view to_read = "GET, HEAD";
constexpr std::string_view to_probe = "GET, HEAD, OPTIONS";
constexpr std::string_view to_order = "POST";

refused error(unsigned status, const wire::problem& what) {
  return refused(error_response(status, what));
}

refused not_found(const http::request& asked) {
  return error(404, {.code = "not_found",
                     .message = "there is nothing at " + asked.target.path,
                     .action = "begin at /v1/elections"});
}

/// The 405 if the method is not one of `allowed`, "GET, HEAD".
std::optional<http::response> wrong_method(const http::request& asked, std::string_view allowed) {
  for (std::string_view rest = allowed; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    if (rest.substr(0, end) == asked.method) return std::nullopt;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  const std::string methods(allowed);
  http::response out =
      error_response(405, {.code = "method_not_allowed",
                           .message = asked.method + " is not possible on " + asked.target.path,
                           .action = "use one of: " + methods});
  out.headers.push_back({.name = "Allow", .value = methods});
  return out;
}

std::string names_of(const snapshot& seen) {
  if (seen.elections.empty()) return "none";
  std::string out;
  for (std::size_t i = 0; i < std::min(seen.elections.size(), max_names_in_error); ++i) {
    out += (i == 0 ? "" : ", ") + seen.elections[i].name;
  }
  if (seen.elections.size() > max_names_in_error) {
    out += " and " + std::to_string(seen.elections.size() - max_names_in_error) + " more";
  }
  return out;
}

/// The index of the election of that name.
std::expected<std::size_t, http::response> place_of(const std::string& name, const snapshot& seen) {
  if (const auto place = seen.elections.find(name)) return *place;
  return error(
      404, {.code = "unknown_election",
            .message = "there is no election \"" + name + "\"; this agent has: " + names_of(seen),
            .action = "use one of these names, or add the election to the agent's "
                      "configuration"});
}

refused bad_query(std::string message, const char* example) {
  return error(400, {.code = "bad_query", .message = std::move(message), .action = example});
}

bool is_repeated(const http::request& asked, std::string_view name) {
  return std::ranges::count(asked.target.query, name, &http::parameter::name) > 1;
}

/// The defect of the query; empty if `to` was set.
std::string read_condition(const http::request& asked, condition& to) {
  for (const std::string_view name : {"index", "wait"}) {
    if (is_repeated(asked, name)) return "\"" + std::string(name) + "\" is given more than once";
  }
  to.etags = asked.if_none_match;
  if (const std::string* index = asked.query_value("index")) {
    to.index = base::read_number<std::uint64_t>(*index);
    if (!to.index) return "\"" + *index + "\" is not an index: a whole number";
    to.wait = default_wait;
  }
  if (const std::string* wait = asked.query_value("wait")) {
    const auto read = base::read_duration(*wait, longest_wait);
    if (!read) {
      return "wait is \"" + *wait + "\", which is not a duration up to " + core::text(longest_wait);
    }
    if (!to.index && !to.etags) {
      return "wait needs what has been seen: an index, or an ETag in If-None-Match";
    }
    to.wait = *read;
  }
  return {};
}

routed route_status(const http::request& asked, std::optional<std::size_t> place) {
  calls::status out{.place = place};
  if (std::string wrong = read_condition(asked, out.reader); !wrong.empty()) {
    return bad_query(std::move(wrong), "ask e.g. /v1/elections/db?index=7&wait=30s");
  }
  return read_call(std::move(out));
}

routed route_history(const http::request& asked, std::size_t place) {
  calls::history out{.place = place, .limit = std::numeric_limits<std::size_t>::max()};
  for (const http::parameter& one : asked.target.query) {
    const auto wanted =
        one.name == "limit" ? base::read_number<std::size_t>(one.value) : std::nullopt;
    if (!wanted || *wanted == 0) {
      return bad_query("\"" + one.name + "=" + one.value + "\" is not a limit of the history",
                       "ask e.g. /v1/elections/db/history?limit=10");
    }
    out.limit = std::min(out.limit, *wanted);
  }
  return read_call(out);
}

/// The defect of the parameters of verify; empty if `to` was set. Unknown parameters are errors:
/// otherwise a misspelt `holder` would silently skip a check.
std::string read_question(const http::request& asked, calls::verify& to) {
  static constexpr std::array<std::string_view, 4> known{"version", "sequencer", "holder", "fresh"};
  for (const http::parameter& one : asked.target.query) {
    if (std::ranges::find(known, one.name) == known.end()) {
      return "\"" + one.name + "\" is not a parameter of verify";
    }
    if (is_repeated(asked, one.name)) return "\"" + one.name + "\" is given more than once";
  }
  const std::string* version = asked.query_value("version");
  const std::string* sequencer = asked.query_value("sequencer");
  if (version == nullptr && sequencer == nullptr) {
    return "verify needs the version or the sequencer that is to be checked";
  }
  if (version != nullptr) {
    // In the exact form that answers use, so that clients can compare versions as text.
    const auto number = base::read_number<std::uint64_t>(*version);
    if (!number || version->starts_with('0')) {
      return "\"" + *version + "\" is not a version: a whole number from 1 to 2^64-1";
    }
    to.what.version = core::version{*number};
  }
  if (sequencer != nullptr) {
    if (sequencer->empty()) return "sequencer is empty; leave it out to check the version alone";
    to.what.sequencer = *sequencer;
  }
  if (const std::string* holder = asked.query_value("holder")) {
    if (holder->empty()) return "holder is empty; leave it out to check the term alone";
    to.what.holder = *holder;
  }
  if (const std::string* fresh = asked.query_value("fresh")) {
    if (*fresh != "0" && *fresh != "1") return "fresh is 0 or 1, not \"" + *fresh + "\"";
    to.fresh = *fresh == "1";
  }
  return {};
}

routed route_verify(const http::request& asked, std::size_t place) {
  calls::verify out{.place = place};
  if (std::string wrong = read_question(asked, out); !wrong.empty()) {
    return bad_query(std::move(wrong),
                     "ask e.g. /v1/elections/db/verify?version=7&holder=db-0&fresh=1");
  }
  return read_call(std::move(out));
}

/// Precondition: the path has four segments and the last names the action.
routed route_order(const http::request& asked, const snapshot& seen, core::order_action action,
                   const control_access& who) {
  if (auto wrong = wrong_method(asked, to_order)) return refused(std::move(*wrong));
  if (auto stranger = order_refusal(asked, who)) return refused(std::move(*stranger));
  const auto place = place_of(asked.target.segments[2], seen);
  if (!place) return refused(place.error());
  auto order = wire::read_order(action, asked.body);
  if (!order) {
    return error(400, {.code = "bad_body",
                       .message = order.error(),
                       .action = "send JSON, e.g. {\"to\":\"db-1\"} to transfer, "
                                 "{\"aside\":\"30s\"} to resign, or nothing"});
  }
  return calls::order{.which = core::election_index{static_cast<std::uint32_t>(*place)},
                      .what = std::move(*order)};
}

/// Paths under /v1/elections. Precondition: the path has at least two segments.
routed route_elections(const http::request& asked, const snapshot& seen, const routes& with) {
  const path& at = asked.target.segments;
  const std::string_view part = at.size() == 4 ? std::string_view(at[3]) : "";
  if (const auto action = core::order_action_named(part); action && with.orders) {
    return route_order(asked, seen, *action, with.who);
  }
  const bool has_part = part == "history" || part == "verify" || part == "events";
  if (at.size() > 4 || (at.size() == 4 && !has_part)) return not_found(asked);
  if (auto wrong = wrong_method(asked, to_read)) return refused(std::move(*wrong));
  if (at.size() == 2) return route_status(asked, std::nullopt);
  const auto place = place_of(at[2], seen);
  if (!place) return refused(place.error());
  if (part == "history") return route_history(asked, *place);
  if (part == "verify") return route_verify(asked, *place);
  if (part.empty()) return route_status(asked, *place);
  return calls::events{.place = *place, .last_id = asked.last_event_id};
}

routed route_stream(const http::request& asked, const snapshot& seen, calls::events::kind what) {
  if (auto wrong = wrong_method(asked, to_read)) return refused(std::move(*wrong));
  if (seen.elections.empty()) return refused(not_started_response());
  return calls::events{.what = what, .last_id = asked.last_event_id};
}

routed route_metrics(const http::request& asked) {
  if (auto wrong = wrong_method(asked, to_read)) return refused(std::move(*wrong));
  return calls::metrics{};
}

std::optional<calls::probe::kind> probe_at(const path& at) {
  using kind = calls::probe::kind;
  static constexpr std::array<std::pair<std::string_view, kind>, 5> probes{
      {{"livez", kind::livez},
       {"readyz", kind::readyz},
       {"leader", kind::leader},
       {"primary", kind::leader},
       {"replica", kind::replica}}};
  if (at.size() != 1) return std::nullopt;
  const auto* const found =
      std::ranges::find(probes, std::string_view(at[0]), [](const auto& one) { return one.first; });
  return found == probes.end() ? std::nullopt : std::optional(found->second);
}

routed route_probe_of(const http::request& asked, const snapshot& seen, calls::probe::kind what) {
  if (auto wrong = wrong_method(asked, to_probe)) return refused(std::move(*wrong));
  calls::probe out{.what = what};
  if (what == calls::probe::kind::leader || what == calls::probe::kind::replica) {
    if (seen.elections.empty()) return refused(not_started_response());
    if (const std::string* name = asked.query_value("election")) {
      const auto place = place_of(*name, seen);
      if (!place) return refused(place.error());
      out.place = *place;
    }
  }
  return read_call(out);
}

bool is_metrics(const path& at, const routes& with) {
  return with.metrics && at.size() == 1 && at[0] == "metrics";
}

}  // namespace

routed route(const http::request& asked, const snapshot& seen, const routes& with) {
  if (auto stranger = refusal(asked, with.hosts)) return refused(std::move(*stranger));
  const path& at = asked.target.segments;
  if (is_metrics(at, with)) return route_metrics(asked);
  if (const auto probe = probe_at(at)) return route_probe_of(asked, seen, *probe);
  if (at.size() >= 2 && at[0] == "v1" && at[1] == "elections") {
    return route_elections(asked, seen, with);
  }
  if (at == path{"v1", "events"}) {
    // For a single election, everything is known as soon as it was sent.
    const bool one = seen.elections.size() == 1;
    return route_stream(asked, seen, one ? calls::events::kind::one : calls::events::kind::all);
  }
  if (at == path{"sse"}) return route_stream(asked, seen, calls::events::kind::older);
  if (!at.empty() && at != path{"api", "leader"}) return not_found(asked);
  if (auto wrong = wrong_method(asked, to_read)) return refused(std::move(*wrong));
  if (at.empty() && wants_page(asked)) return read_call(calls::page());
  return read_call(calls::older{.at_root = at.empty()});
}

routed route_probe(const http::request& asked, const snapshot& seen, const routes& with) {
  if (auto stranger = refusal(asked, with.hosts)) return refused(std::move(*stranger));
  const path& at = asked.target.segments;
  if (is_metrics(at, with)) return route_metrics(asked);
  if (const auto probe = probe_at(at)) return route_probe_of(asked, seen, *probe);
  return error(404, {.code = "not_found",
                     .message = "there is nothing at " + asked.target.path +
                                ": this is the probe port of an agent, not its API",
                     .action = "ask the address of its --listen or --socket; here are /livez, "
                               "/readyz, /leader, /primary, /replica and /metrics"});
}

}  // namespace tenure::api
