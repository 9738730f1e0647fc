#include "etcd/gateway.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "etcd/gateway_json.hpp"
#include "etcd/transactions.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// A member that cannot serve a request answers with an error after so long.
constexpr core::duration longest_request = 7s;

/// The HTTP status that the gateway makes of a gRPC code.
unsigned status_of(int code) {
  switch (code) {
    case 5:
      return 404;
    case 7:
      return 403;
    case 14:
      return 503;
    case 16:
      return 401;
    default:
      return 400;
  }
}

void refuse(const denial& why, gateway::reply& to) {
  to(status_of(why.code), refusal(why.code, why.text));
}

}  // namespace

void gateway::handle(std::size_t m, const std::string& path, const std::string& body,
                     const std::string& token, reply done) {
  if (!members_.up(m)) return;
  if (!members_.frozen(m)) return take(m, path, body, token, std::move(done));
  members_.when_thawed(m, [this, m, path, body, token, done = std::move(done)]() mutable {
    take(m, path, body, token, std::move(done));
  });
}

void gateway::take(std::size_t m, const std::string& path, const std::string& body,
                   const std::string& token, reply done) {
  if (path == "/version") {
    const bool is_old = release_ == etcd_release::of_3_4;
    return done(200, is_old ? json{{"etcdserver", "3.4.45"}, {"etcdcluster", "3.4.0"}}.dump()
                            : json{{"etcdserver", "3.6.9"}, {"etcdcluster", "3.6.0"}}.dump());
  }
  json asked = json::parse(body);
  if (path == "/v3/auth/authenticate") return sign_in(m, asked, std::move(done));
  const auto id = number<std::int64_t>(asked, "ID");
  if (path == "/v3/lease/keepalive") return keep_alive(m, id, std::move(done));
  // A keepalive needs no authentication.
  if (const denial no = users_.check_token(m, token)) return refuse(no, done);
  if (path == "/v3/kv/txn") return transact(m, std::move(asked), token, std::move(done));
  if (path == "/v3/lease/grant") return grant(m, asked, std::move(done));
  if (path == "/v3/lease/revoke") return revoke(m, id, token, std::move(done));
  done(404, refusal(5, "Not Found"));
}

void gateway::sign_in(std::size_t m, const json& asked, reply done) {
  struct outcome {
    denial no;
    std::string token;
  };
  const auto made = std::make_shared<outcome>();
  through_quorum(
      m,
      [this, asked, made] {
        made->no = users_.sign_in(asked.at("name").get<std::string>(),
                                  asked.at("password").get<std::string>(), made->token);
        return keys_.revision();
      },
      [this, m, made](reply& to) {
        if (made->no) return refuse(made->no, to);
        to(200, json{{"header", header(members_, m, members_.applied(m))}, {"token", made->token}}
                    .dump());
      },
      std::move(done));
}

void gateway::grant(std::size_t m, const json& asked, reply done) {
  const auto id = number<std::int64_t>(asked, "ID");
  const core::duration ttl = std::chrono::seconds(number<std::int64_t>(asked, "TTL"));
  const auto exists = std::make_shared<bool>(false);
  through_quorum(
      m,
      [this, id, ttl, exists] {
        *exists = leases_.contains(id);
        if (!*exists) leases_.grant(id, ttl);
        return keys_.revision();
      },
      [this, m, id, ttl, exists](reply& to) {
        if (*exists) {
          return to(release_ == etcd_release::of_3_4 ? 412 : 400,
                    refusal(9, "etcdserver: lease already exists"));
        }
        to(200, json{{"header", header(members_, m, members_.applied(m))},
                     {"ID", std::to_string(id)},
                     {"TTL", std::to_string(ttl / 1s)}}
                    .dump());
      },
      std::move(done));
}

void gateway::revoke(std::size_t m, std::int64_t lease, const std::string& token, reply done) {
  for (const std::string& key : keys_.keys_of(lease)) {
    if (const denial no = users_.check_access(token, key, "")) return refuse(no, done);
  }
  const auto known = std::make_shared<bool>(false);
  through_quorum(
      m,
      [this, lease, known] {
        *known = leases_.contains(lease);
        leases_.end(lease, erased_by::transaction);
        return keys_.revision();
      },
      [this, m, known](reply& to) {
        if (!*known) return to(404, refusal(5, "etcdserver: requested lease not found"));
        to(200, json{{"header", header(members_, m, members_.applied(m))}}.dump());
      },
      std::move(done));
}

void gateway::keep_alive(std::size_t m, std::int64_t lease, reply done) {
  const auto to = std::make_shared<reply>(std::move(done));
  leases_.keep_alive(
      m, lease,
      [this, m, lease, to](std::optional<core::duration> ttl) {
        json out{{"header", header(members_, m, members_.applied(m))},
                 {"ID", std::to_string(lease)}};
        if (ttl) out["TTL"] = std::to_string(*ttl / 1s);
        (*to)(200, in_stream(std::move(out)));
      },
      [this, to] { fail_later(std::move(*to)); });
}

/// The keys that these operations and conditions touch.
denial gateway::check(const json& operations, const std::string& token) const {
  for (const json& one : operations) {
    const json& what = one.contains("target") ? one : one.begin().value();
    if (denial no = users_.check_access(token, bytes(what, "key"), bytes(what, "range_end"))) {
      return no;
    }
  }
  return {};
}

void gateway::transact(std::size_t m, nlohmann::json what, const std::string& token, reply done) {
  const auto asked = std::make_shared<json>(std::move(what));
  const auto may = [this, asked, token, since = users_.revision()]() -> denial {
    if (users_.on() && since != users_.revision()) {
      return {3, "etcdserver: revision of auth store is old"};
    }
    for (const char* part : {"compare", "success", "failure"}) {
      if (denial no = check(asked->at(part), token)) return no;
    }
    return {};
  };
  if (const denial no = may()) return refuse(no, done);
  if (is_local(*asked)) return answer_reads(m, *asked, done);
  const bool reads = only_reads(*asked);
  struct outcome {
    json body;
    std::string error;
    denial no;
    std::uint64_t revision = 0;
  };
  const auto made = std::make_shared<outcome>();
  through_quorum(
      m,
      [this, asked, made, reads, may] {
        made->no = may();
        if (reads || made->no) return keys_.revision();
        bool succeeded = false;
        const json& operations = chosen(*asked, keys_, succeeded);
        // Checked before anything is written, as etcd does.
        for (const json& one : operations) {
          if (!one.contains("request_put")) continue;
          const auto lease = number<std::int64_t>(one.at("request_put"), "lease");
          if (lease != 0 && !leases_.contains(lease)) {
            made->error = refusal(5, "etcdserver: requested lease not found");
            return keys_.revision();
          }
        }
        json parts = json::array();
        keys_.begin();
        for (const json& one : operations) parts.push_back(carry_out(one, keys_, made->error));
        if (keys_.end()) members_.commit(keys_.revision());
        made->body = {{"succeeded", succeeded}, {"responses", std::move(parts)}};
        made->revision = keys_.revision();
        return made->revision;
      },
      [this, m, asked, made, reads](reply& to) {
        if (made->no) return refuse(made->no, to);
        if (!made->error.empty()) return to(404, made->error);
        if (reads) return answer_reads(m, *asked, to);
        made->body["header"] = header(members_, m, made->revision);
        to(200, made->body.dump());
      },
      std::move(done));
}

/// As far as this member is.
void gateway::answer_reads(std::size_t m, const json& asked, reply& to) const {
  const std::uint64_t at = members_.applied(m);
  json parts = json::array();
  for (const json& one : asked.at("success")) {
    parts.push_back({{"response_range", read(one.at("request_range"), keys_, at)}});
  }
  to(200,
     json{{"header", header(members_, m, at)}, {"succeeded", true}, {"responses", std::move(parts)}}
         .dump());
}

void gateway::through_quorum(std::size_t m, std::move_only_function<std::uint64_t()> work,
                             std::move_only_function<void(reply&)> answer, reply done) {
  members_.propose(m, std::move(work),
                   [this, answer = std::move(answer), to = std::move(done)](bool applied) mutable {
                     applied ? answer(to) : fail_later(std::move(to));
                   });
}

void gateway::fail_later(reply done) {
  world_.after(world_.dice.spread(5ms, longest_request), [this, to = std::move(done)]() mutable {
    to(503, refusal(14, world_.dice.chance(500'000) ? "etcdserver: no leader"
                                                    : "etcdserver: request timed out"));
  });
}

}  // namespace tenure::shell
