#pragma once

#include <memory>

#include "base/event_loop.hpp"
#include "metrics/instruments.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// The same store; counts each of its answers, with times by its loop. `in` and `on` must outlive
/// it.
std::unique_ptr<stores::store> make_metered_store(std::unique_ptr<stores::store> of,
                                                  metrics::instruments& in,
                                                  const base::event_loop& on);

}  // namespace tenure::runtime
