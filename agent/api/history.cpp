#include "api/history.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "api/codec.hpp"
#include "base/number_text.hpp"

namespace tenure::api {
http::response answer_history(const http::request& asked, const election_snapshot& election,
                              const snapshot& seen, const instant& at) {
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  for (const http::parameter& one : asked.target.query) {
    const auto wanted =
        one.name == "limit" ? base::read_number<std::size_t>(one.value) : std::nullopt;
    if (!wanted || *wanted == 0) {
      return error_response(
          400, bad_query("\"" + one.name + "=" + one.value + "\" is not a limit of the history",
                         "ask e.g. /v1/elections/db/history?limit=10"));
    }
    limit = std::min(limit, *wanted);
  }
  return history_response(election, seen, at, limit);
}

}  // namespace tenure::api
