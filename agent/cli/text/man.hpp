#pragma once

#include <string>

namespace tenure::cli {

/// The manual page docs/tenure.1, in the macros of man(7), made from the tables of verbs and
/// settings.
std::string manual_page();

}  // namespace tenure::cli
