#include "stores/sqlite/place_table.hpp"

#include <utility>

#include "stores/sqlite/columns.hpp"

namespace tenure::stores::sqlite {

place_table::place_table(connection& on, std::string boot_id)
    : boot_id_(std::move(boot_id)),
      select_(on,
              "SELECT session, identity, ttl_ns, version FROM place "
              "WHERE election = ? AND boot_id = ?"),
      store_(on,
             "INSERT INTO place (election, session, identity, ttl_ns, boot_id, version) "
             "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (election) DO UPDATE SET "
             "session = excluded.session, identity = excluded.identity, "
             "ttl_ns = excluded.ttl_ns, boot_id = excluded.boot_id, version = excluded.version"),
      delete_(on, "DELETE FROM place WHERE election = ? AND session = ?") {}

std::optional<place_table::place> place_table::find(std::string_view election) {
  auto rows = select_.rows(election, boot_id_);
  if (!rows.next()) return std::nullopt;
  return place{.session = rows.text(0),
               .identity = rows.text(1),
               .ttl = core::duration(rows.integer(2)),
               .version = version_of(rows.integer(3))};
}

void place_table::take(std::string_view election, const place& what) {
  store_.run(election, what.session, what.identity, what.ttl.count(), boot_id_,
             column(what.version));
}

void place_table::leave(std::string_view election, std::string_view session) {
  delete_.run(election, session);
}

}  // namespace tenure::stores::sqlite
