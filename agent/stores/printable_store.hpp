#pragma once

#include <functional>
#include <memory>

#include "stores/store.hpp"

namespace tenure::stores {

/// The same store, which makes all text that it shows printable (base/printable_text.hpp) and
/// removes times that no release can have. Anybody who may write to the store chooses both.
std::unique_ptr<store> make_printable_store(std::unique_ptr<store> of);

/// The same for `settings::hears`, which may be empty.
std::function<void(const core::contact_event&)> printable_hearing(
    std::function<void(const core::contact_event&)> of);

}  // namespace tenure::stores
