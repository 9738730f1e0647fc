#pragma once

#include <expected>
#include <functional>
#include <memory>

#include "stores/store.hpp"

namespace tenure::stores {

/// Makes a store of these settings.
using store_maker = std::function<std::expected<std::unique_ptr<store>, open_error>(setup)>;

/// The store that `make` makes, which makes all text that it shows printable
/// (base/printable_text.hpp), hides the secrets that it has sent (stores/sent_secrets.hpp), and
/// removes times that no release can have. Anybody who may write to the store, or answers in its
/// place, chooses all of these. The same goes for what it tells by `hears` and `notes`.
std::expected<std::unique_ptr<store>, open_error> make_printable_store(setup with,
                                                                       const store_maker& make);

}  // namespace tenure::stores
