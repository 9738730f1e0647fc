#include "api/verify.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "api/admission.hpp"
#include "base/number_text.hpp"
#include "core/check.hpp"

namespace tenure::api {
namespace {

struct verify_request {
  term_question what;
  bool fresh = false;
};

std::unexpected<problem> bad_verify(std::string message) {
  return std::unexpected(bad_query(
      std::move(message), "ask e.g. /v1/elections/db/verify?version=7&holder=db-0&fresh=1"));
}

/// A misspelt `holder` would otherwise be a check that is silently not made.
std::expected<void, problem> only_known_parameters(const http::request& asked) {
  static constexpr std::array<std::string_view, 3> known{"version", "holder", "fresh"};
  for (const http::parameter& one : asked.target.query) {
    if (std::ranges::find(known, one.name) == known.end()) {
      return bad_verify("\"" + one.name + "\" is not a parameter of verify");
    }
    if (std::ranges::count(asked.target.query, one.name, &http::parameter::name) > 1) {
      return bad_verify("\"" + one.name + "\" is given more than once");
    }
  }
  return {};
}

/// In the one form that answers have it in, so that who asks can compare them as text.
std::optional<core::version> version_in(std::string_view text) {
  const auto number = base::read_number<std::uint64_t>(text);
  if (!number || text.starts_with('0')) return std::nullopt;
  return core::version{*number};
}

std::expected<verify_request, problem> parse(const http::request& asked) {
  if (auto known = only_known_parameters(asked); !known) {
    return std::unexpected(std::move(known.error()));
  }
  verify_request out;
  const std::string* version = asked.query_value("version");
  if (version == nullptr) return bad_verify("verify needs the version that is to be checked");
  const auto term = version_in(*version);
  if (!term)
    return bad_verify("\"" + *version + "\" is not a version: a whole number from 1 to 2^64-1");
  out.what.term = *term;
  if (const std::string* holder = asked.query_value("holder")) {
    if (holder->empty())
      return bad_verify("holder is empty; leave it out to check the version alone");
    out.what.holder = *holder;
  }
  if (const std::string* fresh = asked.query_value("fresh")) {
    if (*fresh != "0" && *fresh != "1")
      return bad_verify("fresh is 0 or 1, not \"" + *fresh + "\"");
    out.fresh = *fresh == "1";
  }
  return out;
}

problem uncertainty(const verdict& what, const election_snapshot& election, const snapshot& seen,
                    const instant& at) {
  const std::string of = "the watch of election \"" + election.name + "\" ";
  const char* action = "ask with fresh=1, or again in a moment";
  switch (what.is) {
    case ruling::behind:
      return {.code = "cache_behind",
              .message = of + "has not come to this version yet",
              .action = action};
    case ruling::expired:
      return {.code = "lease_may_be_over",
              .message = "the lease of this version has run out by what " + of + "last showed",
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

http::response respond(const verify_request& asked, const verdict& what,
                       const election_snapshot& election, const snapshot& seen, const instant& at) {
  if (!is_certain(what.is)) return error_response(503, uncertainty(what, election, seen, at));
  return verdict_response(asked.what, what, election, seen, at);
}

}  // namespace

http::response answer_verify(const http::request& asked, const election_snapshot& election,
                             const snapshot& seen, const instant& at) {
  const auto parsed = parse(asked);
  if (!parsed) return error_response(400, parsed.error());
  if (parsed->fresh) {
    return error_response(503, {.code = "no_fresh_reads",
                                .message = "this agent does not read its store on request",
                                .action = "ask without fresh=1"});
  }
  return respond(*parsed, judge(parsed->what, election, seen, at), election, seen, at);
}

std::optional<core::election_index> needs_fresh_read(const http::request& asked,
                                                     const snapshot& seen,
                                                     const std::vector<std::string>& hosts) {
  const std::vector<std::string>& path = asked.target.segments;
  const bool is_verify =
      path.size() == 4 && path[0] == "v1" && path[1] == "elections" && path[3] == "verify";
  if (!is_verify || refusal(asked, hosts)) return std::nullopt;
  if (asked.method != "GET" && asked.method != "HEAD") return std::nullopt;
  const auto found = seen.elections.find(path[2]);
  if (!found) return std::nullopt;
  const auto parsed = parse(asked);
  if (!parsed || !parsed->fresh) return std::nullopt;
  return core::election_index{static_cast<std::uint32_t>(*found)};
}

http::response answer_fresh(const http::request& asked, core::election_index which,
                            const snapshot& seen, const instant& at, const fresh_result& read) {
  if (!read) return error_response(503, read.error());
  const auto parsed = parse(asked);
  TENURE_CHECK(parsed && core::place(which) < seen.elections.size());
  const election_snapshot& election = seen.elections[core::place(which)];
  return respond(*parsed, judge(parsed->what, election, at, *read), election, seen, at);
}

}  // namespace tenure::api
