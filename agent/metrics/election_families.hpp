#pragma once

#include <functional>
#include <string>

#include "api/election_status.hpp"
#include "api/snapshot.hpp"

namespace tenure::metrics {

/// Reads the time of a sample.
using clock_reader = std::function<api::instant()>;

/// Appends the metrics of each election to `page`. Nothing is kept between two pages, and `at` is
/// called again every few samples, so that a term that ends meanwhile is over on the page, too.
void write_elections(const api::snapshot& seen, const clock_reader& at, std::string& page);

}  // namespace tenure::metrics
