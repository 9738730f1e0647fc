#pragma once

#include <cstdint>
#include <string>

#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "http/server/traffic.hpp"

namespace tenure::metrics {

/// Appends the metrics of the whole agent that its snapshot shows.
void write_agent(const api::snapshot& seen, core::duration since_last_beat, std::string& page);

/// Appends the state of the store's connection.
void write_store(const api::snapshot& seen, core::time_point now, std::string& page);

/// Appends how many lines of the log could not be written.
void write_log(std::uint64_t lines_lost, std::string& page);

/// Appends the traffic of the two listeners.
void write_traffic(const http::traffic& api, const http::traffic& probe, std::string& page);

/// Appends the resources of the process, under the names that every Prometheus client library uses.
void write_process(std::string& page);

}  // namespace tenure::metrics
