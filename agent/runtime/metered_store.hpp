#pragma once

#include <memory>

#include "metrics/instruments.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// The same store, with each of its answers counted on the way. `in` must outlive it.
std::unique_ptr<stores::store> make_metered_store(std::unique_ptr<stores::store> of,
                                                  metrics::instruments& in);

}  // namespace tenure::runtime
