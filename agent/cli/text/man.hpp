#pragma once

#include <string>

namespace tenure::cli {

/// The manual page, in the macros of man(7): docs/tenure.1, made from the tables of verbs and
/// settings.
std::string manual_page();

}  // namespace tenure::cli
