#pragma once

#include <expected>
#include <string>

#include "stores/sqlite/connection.hpp"

namespace tenure::stores::sqlite {

/// Prepares an open file: checks that it is ours and undamaged, makes the tables if it is empty,
/// and turns on WAL and full synchronization. Never writes into a file of another application. The
/// error says what is wrong with the file.
std::expected<void, std::string> set_up(connection& db);

}  // namespace tenure::stores::sqlite
