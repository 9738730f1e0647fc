#pragma once

#include <functional>
#include <string>

#include "api/election_status.hpp"
#include "api/snapshot.hpp"

namespace tenure::metrics {

/// When a sample is made.
using clock_reader = std::function<api::instant()>;

/// Appends all that is about single elections to `page`. None of it is kept between two pages, and
/// `at` is read again for every few samples: what the clock ends is over on the page, too.
void write_elections(const api::snapshot& seen, const clock_reader& at, std::string& page);

}  // namespace tenure::metrics
