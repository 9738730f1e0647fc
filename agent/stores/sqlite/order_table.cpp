#include "stores/sqlite/order_table.hpp"

#include <optional>
#include <utility>

#include "stores/sqlite/columns.hpp"

namespace tenure::stores::sqlite {
namespace {

/// For a column that may be empty.
constexpr std::int64_t no_aside = -1;
constexpr const char* open_state = "open";
constexpr const char* accepted_state = "accepted";
constexpr const char* refused_state = "refused";

/// Reads state, code, message and advice, the columns from `first` on. Nothing while the order is
/// open.
std::optional<core::order_reply> reply_in(const statement::cursor& row, int first) {
  const std::string state = row.text(first);
  if (state == open_state) return std::nullopt;
  return core::order_reply{.accepted = state == accepted_state,
                           .code = row.text(first + 1),
                           .message = row.text(first + 2),
                           .action = row.text(first + 3)};
}

}  // namespace

order_table::order_table(connection& on, std::string boot_id)
    : boot_id_(std::move(boot_id)),
      insert_(on,
              "INSERT INTO member_order (election, id, member, action, version, aside_ns, heir, "
              "state, code, message, advice, boot_id, expires_ns) "
              "VALUES (?, ?, ?, ?, ?, ?, ?, 'open', '', '', '', ?, ?) "
              // Counts as a change if it is the same order, which stays as it is.
              "ON CONFLICT (election, id) DO UPDATE SET id = excluded.id "
              "WHERE member = excluded.member AND action = excluded.action AND "
              "version = excluded.version AND aside_ns = excluded.aside_ns AND "
              "heir = excluded.heir"),
      delete_dead_(on, "DELETE FROM member_order WHERE boot_id <> ? OR expires_ns <= ?"),
      answer_(
          on,
          "UPDATE member_order SET state = ?, code = ?, message = ?, advice = ? "
          "WHERE election = ? AND id = ? AND state = 'open' AND boot_id = ? AND expires_ns > ?"),
      select_reply_(on,
                    "SELECT state, code, message, advice FROM member_order "
                    "WHERE election = ? AND id = ?"),
      delete_(on, "DELETE FROM member_order WHERE election = ? AND id = ?"),
      select_(on,
              "SELECT election, id, member, action, version, aside_ns, heir, state, code, message, "
              "advice FROM member_order WHERE boot_id = ? AND expires_ns > ? ORDER BY id") {}

bool order_table::leave(std::string_view election, const core::left_order& what,
                        core::time_point now, core::time_point expires_at) {
  const core::order& wanted = what.wanted;
  delete_dead_.run(boot_id_, column(now));
  return insert_.run(election, what.id, wanted.member, core::name(wanted.what),
                     static_cast<std::int64_t>(core::number(what.version)),
                     wanted.aside ? wanted.aside->count() : no_aside, wanted.heir, boot_id_,
                     column(expires_at)) == 1;
}

bool order_table::answer(std::string_view election, const std::string& id,
                         const core::order_reply& reply, core::time_point now) {
  const std::string_view state = reply.accepted ? accepted_state : refused_state;
  return answer_.run(state, reply.code, reply.message, reply.action, election, id, boot_id_,
                     column(now)) == 1;
}

order_written order_table::drop(std::string_view election, const std::string& id) {
  order_written out;
  {
    auto rows = select_reply_.rows(election, id);
    if (rows.next()) out.reply = reply_in(rows, 0);
  }
  out.done = !out.reply && delete_.run(election, id) == 1;
  return out;
}

std::vector<order_table::entry> order_table::live(core::time_point now) {
  std::vector<entry> out;
  auto rows = select_.rows(boot_id_, column(now));
  while (rows.next()) {
    const auto action = core::order_action_named(rows.text(3));
    if (!action) continue;  // from a newer agent
    entry one{.election = rows.text(0), .what = {.id = rows.text(1)}};
    one.what.wanted = {.what = *action, .member = rows.text(2), .heir = rows.text(6)};
    if (rows.integer(5) >= 0) one.what.wanted.aside = core::duration(rows.integer(5));
    one.what.version = core::version{static_cast<std::uint64_t>(rows.integer(4))};
    one.what.reply = reply_in(rows, 7);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace tenure::stores::sqlite
