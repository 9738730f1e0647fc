#include "cli/client/json_codec.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/text/times.hpp"
#include "core/unhealthy_terms.hpp"
#include "wire/json_codec.hpp"

namespace tenure::cli {
namespace {

nlohmann::ordered_json as_json(const std::vector<config::problem>& problems) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const config::problem& p : problems) {
    out.push_back({{"where", p.where}, {"what", p.what}, {"suggestion", p.suggestion}});
  }
  return out;
}

nlohmann::ordered_json or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

}  // namespace

std::string budget_json(const core::timing& t, const core::consequences& means,
                        const settings::agent& of) {
  const core::budget b = t.of(t.ttl);
  const auto failover = of.consul.without_ttl
                            ? nlohmann::ordered_json()
                            : nlohmann::ordered_json(in_seconds(means.worst_failover));
  nlohmann::ordered_json out{
      {"store", of.store},
      {"ttl_seconds", in_seconds(t.ttl)},
      {"drift_ppm", t.drift_ppm},
      {"safe_until_seconds", in_seconds(b.safe_until)},
      {"kill_budget_seconds", in_seconds(t.kill_budget)},
      {"kill_at_seconds", in_seconds(b.kill_at)},
      {"grace_seconds", in_seconds(t.grace)},
      {"stop_at_seconds", in_seconds(b.stop_at)},
      {"renew_seconds", in_seconds(t.renew)},
      {"try_timeout_seconds", in_seconds(means.try_timeout)},
      {"tries_window_seconds", in_seconds(means.tries_window)},
      {"lock_delay_seconds", in_seconds(t.lock_delay)},
      {"drain_seconds", in_seconds(t.drain)},
      {"worst_failover_seconds", failover},
      {"detection_seconds", in_seconds(means.detection)},
      {"margin_seconds", in_seconds(means.margin)},
      {"store_writes_per_hour", means.writes_per_hour},
  };
  if (of.health.is_checked()) {
    out["health_noticed_within_seconds"] = in_seconds(of.health.noticed_within());
    out["unhealthy_pause_seconds"] = in_seconds(t.ttl);
    out["unhealthy_longest_pause_seconds"] =
        in_seconds(std::max(t.ttl, core::unhealthy_terms::longest_pause));
  }
  return out.dump(2);
}

std::string check_json(const std::string& file, bool good,
                       const std::vector<config::problem>& problems,
                       const std::vector<config::problem>& warnings) {
  const nlohmann::ordered_json out{{"file", file},
                                   {"good", good},
                                   {"problems", as_json(problems)},
                                   {"warnings", as_json(warnings)}};
  // A file may hold bytes that are not UTF-8, and its problems quote them.
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string findings_json(const std::vector<runtime::finding>& all) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const runtime::finding& one : all) {
    out.push_back({{"check", one.check},
                   {"result", runtime::word(one.result)},
                   {"text", one.text},
                   {"action", or_null(one.action)}});
  }
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string version_json(const build_facts& what) {
  return nlohmann::ordered_json{{"version", what.version}, {"commit", or_null(what.commit)},
                                {"stores", what.stores},   {"compiler", what.compiler},
                                {"boost", what.boost},     {"tls", what.tls}}
      .dump(2);
}

std::string install_json(const std::string& path, bool written, const build_facts& what) {
  const nlohmann::ordered_json out{{"path", path},
                                   {"written", written},
                                   {"version", what.version},
                                   {"commit", or_null(what.commit)}};
  // A path may have bytes that are not UTF-8.
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

bool etcd_leads(const std::string& status) {
  const nlohmann::json reply = wire::parsed(status);
  if (!reply.is_object() || !reply.contains("leader") || !reply.contains("header")) return false;
  const auto& header = reply["header"];
  return header.is_object() && header.contains("member_id") && reply["leader"].is_string() &&
         header["member_id"] == reply["leader"];
}

}  // namespace tenure::cli
