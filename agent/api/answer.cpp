#include "api/answer.hpp"

#include <utility>

#include "api/change.hpp"
#include "api/reports.hpp"
#include "api/responses.hpp"
#include "api/status_page.hpp"
#include "core/check.hpp"
#include "wire/order.hpp"

namespace tenure::api {
namespace {

void add_etag(http::response& to, const snapshot& seen, std::uint64_t index) {
  to.headers.push_back({.name = "ETag", .value = "W/\"" + version_id(seen.agent, index) + "\""});
}

wire::problem uncertainty(const verdict& what, const election_snapshot& election,
                          const snapshot& seen, const instant& at) {
  const std::string of = "the watch of election \"" + election.name + "\" ";
  const char* action = "ask with fresh=1, or again in a moment";
  switch (what.is) {
    case validity::behind:
      return {.code = "cache_behind",
              .message = of + "may not have reached this term yet",
              .action = action};
    case validity::expired:
      return {.code = "lease_may_be_over",
              .message = "the lease of this term has run out by what " + of + "last showed",
              .action = action};
    default:
      if (!seen.contact.reachable(at.now)) {
        return {.code = "store_unreachable",
                .message = "the store does not answer: " + seen.contact.why(at.now),
                .action = "ask again in a moment; see the agent's log if this lasts"};
      }
      return {.code = "watch_broken",
              .message = of + "is broken, or has shown nothing yet",
              .action = action};
  }
}

http::response answer_verdict(const calls::verify& asked, const verdict& what,
                              const election_snapshot& election, const snapshot& seen,
                              const instant& at) {
  if (!is_certain(what.is)) return error_response(503, uncertainty(what, election, seen, at));
  const wire::verification out = verification_of(asked.what, what, election, seen, at);
  return json_response(out.valid ? 200 : 409, wire::write(out));
}

/// One handler per call.
struct handler {
  const snapshot& seen;
  const heartbeat& alive;
  const instant& at;

  http::response operator()(const calls::page&) const { return status_page(); }

  http::response operator()(const calls::older& what) const {
    http::response out =
        seen.elections.empty()
            ? not_started_response()
            : json_response(200, wire::write(older_status_of(seen.elections[0], seen, at)));
    if (what.at_root) out.headers.push_back({.name = "Vary", .value = "Accept"});
    return out;
  }

  http::response operator()(const calls::status& what) const {
    const std::uint64_t index = index_of(what, seen, at.now);
    http::response out;
    if (matches(what.reader, seen.agent, index)) {
      out = {.status = 304, .headers = {{.name = "Cache-Control", .value = "no-store"}}};
    } else if (what.place) {
      out = json_response(200, wire::write(report_of(seen.elections[*what.place], seen, at)));
    } else {
      const auto report_at = [this](std::size_t place) {
        return report_of(seen.elections[place], seen, at);
      };
      out = json_response(
          200, wire::write_list(seen.elections.size(), report_at, seen.agent, index, at.unix_ms));
    }
    add_etag(out, seen, index);
    return out;
  }

  http::response operator()(const calls::history& what) const {
    return json_response(200,
                         wire::write(history_of(seen.elections[what.place], seen, at, what.limit)));
  }

  http::response operator()(const calls::verify& what) const {
    if (what.fresh) {
      return error_response(503, {.code = "no_fresh_reads",
                                  .message = "this agent does not read its store on request",
                                  .action = "ask without fresh=1"});
    }
    const election_snapshot& election = seen.elections[what.place];
    return answer_verdict(what, judge(what.what, election, seen, at), election, seen, at);
  }

  http::response operator()(const calls::probe& what) const {
    return api::answer(what, seen, alive, at);
  }
};

}  // namespace

http::response answer(const read_call& what, const snapshot& seen, const heartbeat& alive,
                      const instant& at) {
  return std::visit(handler{.seen = seen, .alive = alive, .at = at}, what);
}

http::response answer_fresh(const calls::verify& what, const snapshot& seen, const instant& at,
                            const fresh_result& read) {
  if (!read) return error_response(503, read.error());
  TENURE_CHECK(what.place < seen.elections.size());
  const election_snapshot& election = seen.elections[what.place];
  return answer_verdict(what, judge(what.what, election, at, *read), election, seen, at);
}

http::response answer_order(const calls::order& what, const snapshot& seen,
                            const control_result& result) {
  if (!result) return error_response(result.error().status, result.error().why);
  return json_response(202, wire::write(wire::accepted_order{
                                .accepted = true,
                                .election = seen.elections[core::place(what.which)].name,
                                .action = std::string(core::name(what.what.what)),
                                .by = result->by,
                                .to = what.what.heir,
                                .accept_versions = what.what.accept_versions}));
}

std::uint64_t index_of(const calls::status& what, const snapshot& seen, core::time_point now) {
  return what.place ? index_of(seen.elections[*what.place], seen, now) : index_of(seen, now);
}

}  // namespace tenure::api
