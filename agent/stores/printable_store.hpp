#pragma once

#include <memory>

#include "stores/store.hpp"

namespace tenure::stores {

/// The same store, with all text that it shows made printable (core/printable_text.hpp), and
/// without times that no release can have had. Anybody who may write to the store chooses both.
std::unique_ptr<store> make_printable_store(std::unique_ptr<store> of);

}  // namespace tenure::stores
