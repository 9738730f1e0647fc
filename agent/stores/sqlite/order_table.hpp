#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/member_order.hpp"
#include "stores/sqlite/connection.hpp"
#include "stores/store.hpp"

namespace tenure::stores::sqlite {

/// Table `member_order`: orders that agents leave for each other. A row counts while its boot is
/// the present one and its `expires_ns` lies ahead; the next writer removes rows that do not count.
///
/// Each call is part of a transaction that the caller has begun. Not thread-safe.
class order_table {
 public:
  /// Precondition: the table exists (lease_schema.hpp).
  order_table(connection& on, std::string boot_id);

  /// An order of this id that is there already stays as it is. False if it is another one.
  bool leave(std::string_view election, const core::left_order& what, core::time_point now,
             core::time_point expires_at);

  /// False if the order does not exist, or is answered.
  bool answer(std::string_view election, const std::string& id, const core::order_reply& reply,
              core::time_point now);

  /// Returns the order's answer, if it had one. Not done if the order does not exist.
  order_written drop(std::string_view election, const std::string& id);

  struct entry {
    std::string election;
    core::left_order what;
  };
  /// The orders of all elections, sorted by id.
  std::vector<entry> live(core::time_point now);

 private:
  std::string boot_id_;
  statement insert_;
  statement delete_dead_;
  statement answer_;
  statement select_reply_;
  statement delete_;
  statement select_;
};

}  // namespace tenure::stores::sqlite
