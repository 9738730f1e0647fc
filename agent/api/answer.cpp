#include "api/answer.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "api/admission.hpp"
#include "api/change.hpp"
#include "api/codec.hpp"
#include "api/history.hpp"
#include "api/long_poll.hpp"
#include "api/probes.hpp"
#include "api/status_page.hpp"
#include "api/verify.hpp"

namespace tenure::api {
namespace {

using path = std::vector<std::string>;

/// An error names this many elections at most; a list of ten thousand helps nobody.
constexpr std::size_t max_names_in_error = 8;

bool method_is(const http::request& asked, std::initializer_list<std::string_view> allowed) {
  return std::ranges::find(allowed, asked.method) != allowed.end();
}

http::response method_not_allowed(const http::request& asked, const char* allowed) {
  http::response out =
      error_response(405, {.code = "method_not_allowed",
                           .message = asked.method + " is not possible on " + asked.target.path,
                           .action = std::string("use one of: ") + allowed});
  out.headers.push_back({.name = "Allow", .value = allowed});
  return out;
}

http::response not_found(const http::request& asked, const char* action) {
  return error_response(404, {.code = "not_found",
                              .message = "there is nothing at " + asked.target.path,
                              .action = action});
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

http::response unknown_election(const std::string& name, const snapshot& seen) {
  return error_response(
      404, {.code = "unknown_election",
            .message = "there is no election \"" + name + "\"; this agent has: " + names_of(seen),
            .action = "use one of these names, or add the election to the agent's "
                      "configuration"});
}

http::response not_started() {
  return error_response(503, {.code = "not_started",
                              .message = "the agent has not begun its elections yet",
                              .action = "ask again in a moment"});
}

const election_snapshot* find(const snapshot& seen, const std::string& name) {
  const auto found = seen.elections.find(name);
  return found ? &seen.elections[*found] : nullptr;
}

http::response answer_activity(const http::request& asked, const snapshot& seen,
                               const instant& at) {
  if (seen.elections.empty()) return not_started();
  const std::string* name = asked.query_value("election");
  const election_snapshot* which = name != nullptr ? find(seen, *name) : &seen.elections[0];
  if (which == nullptr) return unknown_election(*name, seen);
  const bool is_so =
      asked.target.segments.front() == "replica" ? is_replica(*which) : is_leader(*which, at);
  return is_so ? ok_response() : wrong_part(*which, seen, at);
}

bool is_probe(const path& asked) {
  static constexpr std::string_view probes[] = {"livez", "readyz", "leader", "primary", "replica"};
  return asked.size() == 1 && std::ranges::find(probes, asked.front()) != std::end(probes);
}

/// To a request for events where they cannot be streamed.
http::response no_stream() {
  return error_response(503, {.code = "no_stream",
                              .message = "there are no events here",
                              .action = "ask /v1/elections, with ?index= and &wait="});
}

http::response answer_elections(const http::request& asked, const snapshot& seen, const instant& at,
                                election_pages& pages) {
  const path& at_path = asked.target.segments;
  const bool is_list = at_path.size() == 2;
  const auto place = is_list ? std::nullopt : seen.elections.find(at_path[2]);
  if (!is_list && !place) return unknown_election(at_path[2], seen);
  if (at_path.size() == 4) {
    const election_snapshot& which = seen.elections[*place];
    if (at_path[3] == "history") return answer_history(asked, which, seen, at);
    return at_path[3] == "verify" ? answer_verify(asked, which, seen, at) : no_stream();
  }
  const auto reader = read_condition(asked);
  if (!reader) return error_response(400, reader.error());
  if (is_list) {
    const std::uint64_t index = index_of(seen, at.now);
    if (matches(*reader, seen.agent, index)) return not_modified_response(seen, index);
    return elections_response(pages, seen, at);
  }
  const election_snapshot& which = seen.elections[*place];
  const std::uint64_t index = index_of(which, seen, at.now);
  if (matches(*reader, seen.agent, index)) return not_modified_response(seen, index);
  return election_response(pages.of(seen, *place, at), which, seen, at);
}

}  // namespace

http::response answer(const http::request& asked, const snapshot& seen, const pulse& alive,
                      const instant& at, const std::vector<std::string>& hosts,
                      election_pages& pages) {
  if (auto refused = refusal(asked, hosts)) return std::move(*refused);
  const path& at_path = asked.target.segments;
  if (is_probe(at_path)) return answer_probe(asked, seen, alive, at);

  const bool for_older = at_path.empty() || at_path == path{"api", "leader"};
  const bool part = at_path.size() == 4 &&
                    (at_path[3] == "verify" || at_path[3] == "events" || at_path[3] == "history");
  const bool elections = (at_path.size() == 2 || at_path.size() == 3 || part) &&
                         at_path[0] == "v1" && at_path[1] == "elections";
  const bool streams = at_path == path{"v1", "events"} || at_path == path{"sse"};
  if (!for_older && !elections && !streams) return not_found(asked, "begin at /v1/elections");
  if (!method_is(asked, {"GET", "HEAD"})) return method_not_allowed(asked, "GET, HEAD");
  if (elections) return answer_elections(asked, seen, at, pages);
  if (at_path.empty() && wants_page(asked)) return status_page();
  if (streams && !seen.elections.empty()) return no_stream();
  http::response out =
      seen.elections.empty() ? not_started() : older_response(seen.elections[0], seen, at);
  if (at_path.empty()) out.headers.push_back({.name = "Vary", .value = "Accept"});
  return out;
}

http::response answer_probe(const http::request& asked, const snapshot& seen, const pulse& alive,
                            const instant& at) {
  if (!is_probe(asked.target.segments)) {
    return error_response(
        404, {.code = "not_found",
              .message = "there is nothing at " + asked.target.path +
                         ": this is the probe port of an agent, not its API",
              .action = "ask the address of its --listen or --socket; here are /livez, /readyz, "
                        "/leader, /primary, /replica and /metrics"});
  }
  if (!method_is(asked, {"GET", "HEAD", "OPTIONS"})) {
    return method_not_allowed(asked, "GET, HEAD, OPTIONS");
  }
  const std::string& probe = asked.target.segments.front();
  if (probe == "livez") return livez(seen, alive, at);
  if (probe == "readyz") return readyz(seen);
  return answer_activity(asked, seen, at);
}

}  // namespace tenure::api
