#include "metrics/agent_families.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/process_usage.hpp"
#include "core/health.hpp"
#include "metrics/family.hpp"
#include "metrics/registry.hpp"

namespace tenure::metrics {
namespace {

void write_one(kind is, const title& what, double value, std::string& page) {
  write(family{.what = what, .is = is, .samples = {{.value = value}}}, page);
}

void write_health(const api::health_report& health, std::string& page) {
  family out{.what = {"tenure_workload_health",
                      "1 for the verdict of the workload's health checks, else 0; absent if none "
                      "is checked."}};
  for (const core::health h :
       {core::health::unknown, core::health::healthy, core::health::unhealthy}) {
    out.samples.push_back({.labels = {{"state", std::string(core::name(h))}},
                           .value = h == health.state ? 1.0 : 0.0});
  }
  write(out, page);
}

struct listener_traffic {
  std::string_view name;
  const http::traffic& of;
};

}  // namespace

void write_agent(const api::snapshot& seen, core::duration since_last_beat, std::string& page) {
  family about{.what = {"tenure_agent_info", "1; who this agent is, and the store that it uses."}};
  about.samples.push_back(
      {.labels = {{"identity", seen.identity}, {"store", seen.store}}, .value = 1});
  write(about, page);
  write_one(
      kind::gauge,
      {"tenure_loop_silence_seconds",
       "Time since the election loop has last turned; it turns every 3 s if nothing happens."},
      std::chrono::duration<double>(since_last_beat).count(), page);
  write_one(kind::gauge, {"tenure_agent_stopping", "1 once the agent is stopping."},
            seen.stopping ? 1 : 0, page);
  if (seen.health) write_health(*seen.health, page);
}

void write_store(const api::snapshot& seen, core::time_point now, std::string& page) {
  write_one(kind::gauge,
            {"tenure_store_up",
             "1 while the store answers: its newest request was answered, and it has said "
             "something within two thirds of the ttl; 0 before the first answer."},
            seen.contact.reachable(now) ? 1 : 0, page);
  const auto silence = seen.contact.silence(now);
  if (!silence) return;
  write_one(kind::gauge,
            {"tenure_store_silence_seconds",
             "Time since the store has last answered or shown something; absent before the first "
             "answer."},
            std::chrono::duration<double>(*silence).count(), page);
}

void write_log(std::uint64_t lines_lost, std::string& page) {
  write_one(kind::counter,
            {"tenure_log_lines_lost_total", "Lines of the log that could not be written."},
            static_cast<double>(lines_lost), page);
}

void write_traffic(const http::traffic& api, const http::traffic& probe, std::string& page) {
  const std::array both{listener_traffic{"api", api}, listener_traffic{"probe", probe}};
  family requests{.what = {"tenure_http_requests_total",
                           "Answers given, by listener and HTTP status; code 0 is any other."},
                  .is = kind::counter};
  family open{.what = {"tenure_http_connections", "Connections that are open, by listener."}};
  family opened{.what = {"tenure_http_connections_opened_total",
                         "Connections that were accepted, by listener."},
                .is = kind::counter};
  family refused{.what = {"tenure_http_connections_refused_total",
                          "Connections that were refused because all that a listener may have "
                          "were busy."},
                 .is = kind::counter};
  for (const auto& [name, of] : both) {
    const std::vector<label> labels{{"listener", std::string(name)}};
    for (std::size_t i = 0; i < http::traffic::statuses.size(); ++i) {
      if (of.answers(i) == 0) continue;
      requests.samples.push_back({.labels = labels, .value = static_cast<double>(of.answers(i))});
      requests.samples.back().labels.push_back(
          {"code", std::to_string(http::traffic::statuses[i])});
    }
    open.samples.push_back({.labels = labels, .value = static_cast<double>(of.connections())});
    opened.samples.push_back(
        {.labels = labels, .value = static_cast<double>(of.connections_opened())});
    refused.samples.push_back(
        {.labels = labels, .value = static_cast<double>(of.connections_refused())});
  }
  if (!requests.samples.empty()) write(requests, page);
  for (const family& one : {std::cref(open), std::cref(opened), std::cref(refused)}) {
    write(one, page);
  }
}

void write_process(std::string& page) {
  const std::optional<base::process_usage> used = base::read_process_usage();
  if (!used) return;
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  write_one(kind::counter,
            {"process_cpu_seconds_total", "Total user and system CPU time spent in seconds."},
            used->cpu_seconds, page);
  write_one(
      kind::gauge,
      {"process_start_time_seconds", "Start time of the process since unix epoch in seconds."},
      used->start_unix_seconds, page);
  write_one(kind::gauge, {"process_resident_memory_bytes", "Resident memory size in bytes."},
            number(used->resident_bytes), page);
  write_one(kind::gauge, {"process_virtual_memory_bytes", "Virtual memory size in bytes."},
            number(used->virtual_bytes), page);
  write_one(kind::gauge, {"process_threads", "Number of OS threads in the process."},
            number(used->threads), page);
  write_one(kind::gauge, {"process_open_fds", "Number of open file descriptors."},
            number(used->open_fds), page);
  write_one(kind::gauge, {"process_max_fds", "Maximum number of open file descriptors."},
            number(used->max_fds), page);
}

}  // namespace tenure::metrics
