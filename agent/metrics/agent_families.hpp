#pragma once

#include <string>

#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "http/server/traffic.hpp"

namespace tenure::metrics {

/// Appends what is about the agent as a whole and can be read off what it shows.
void write_agent(const api::snapshot& seen, core::duration since_last_beat, std::string& page);

/// Appends how the store answers.
void write_store(const api::snapshot& seen, core::time_point now, std::string& page);

/// Appends what the two listeners have done.
void write_traffic(const http::traffic& api, const http::traffic& probe, std::string& page);

/// Appends what the process uses, under the names that every Prometheus client library uses for it.
void write_process(std::string& page);

}  // namespace tenure::metrics
