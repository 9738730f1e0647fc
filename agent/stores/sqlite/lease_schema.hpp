#pragma once

#include <expected>
#include <string>

#include "stores/sqlite/connection.hpp"

namespace tenure::stores::sqlite {

/// Brings an open file into shape: checks that it is ours and whole, makes the tables if it is
/// empty, and turns WAL and full synchronization on. Writes nothing into files of others.
/// The text says what is wrong with the file.
std::expected<void, std::string> set_up(connection& db);

}  // namespace tenure::stores::sqlite
