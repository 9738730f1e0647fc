// Bytes from anybody, through the server's connection and the API. Every request that is taken is
// answered with one well-formed message, and all that is sent is the same however the bytes are cut
// into pieces and however slowly the client reads.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/answer.hpp"
#include "api/router.hpp"
#include "core/check.hpp"
#include "http/server/server_connection.hpp"

namespace {

using namespace tenure;
using namespace std::chrono_literals;

constexpr http::http_limits limits{
    .header_bytes = 512, .body_bytes = 128, .requests_per_connection = 50};
constexpr std::string_view status_line = "HTTP/1.1 ";

api::snapshot holder() {
  api::election_snapshot e;
  e.name = "db";
  e.index = 1;
  e.view.phase = core::phase::active;
  e.view.since = core::time_point(1s);
  api::snapshot s;
  s.index = 1;
  s.agent = "run";
  s.identity = "me";
  s.elections.push_back(std::move(e));
  return s;
}

http::response answer_of_the_api(const http::request& asked) {
  static const api::snapshot seen = holder();
  const api::instant at{.now = core::time_point(2s), .unix_ms = 0};
  const api::heartbeat alive{.last_beat = at.now, .bound = 10s};
  const api::routed wanted = api::route(asked, seen, {});
  if (!wanted) return wanted.error();
  const auto* const read = std::get_if<api::read_call>(&*wanted);
  return read != nullptr ? api::answer(*read, seen, alive, at) : http::response();
}

/// One connection: its bytes come in pieces of `piece` bytes, its client reads `most` at a time.
class client {
 public:
  std::string talk(std::string_view bytes, std::size_t piece, std::size_t most) {
    while (!bytes.empty() && !connection_.wanted().close) {
      // What the connection does not want to read stays in the kernel.
      if (!connection_.wanted().read) break;
      connection_.received(bytes.substr(0, piece), now);
      bytes.remove_prefix(std::min(piece, bytes.size()));
      proceed(most);
    }
    // It is closed, waits for more, or waits for the client to close.
    TENURE_CHECK(connection_.unsent_bytes() == 0);
    TENURE_CHECK(connection_.wanted().close || connection_.wanted().read);
    TENURE_CHECK(group_.connections == (connection_.wanted().close ? 0 : 1));
    return std::move(sent_);
  }

 private:
  void proceed(std::size_t most) {
    while (true) {
      if (const http::request* const asked = connection_.take_request(now)) {
        answer(*asked);
      } else if (connection_.unsent_bytes() > 0) {
        send(most);
      } else if (connection_.wanted().turn) {
        connection_.go_on(now);
      } else {
        return;
      }
    }
  }

  void answer(const http::request& asked) {
    TENURE_CHECK(asked.body.size() <= limits.body_bytes);
    TENURE_CHECK(asked.body.empty() || asked.method == "POST");
    const std::size_t before = connection_.unsent_bytes();
    connection_.answer(answer_of_the_api(asked), now);
    if (connection_.unsent_bytes() == before) return;
    std::string all(connection_.unsent()[0]);
    const std::string_view text = std::string_view(all).substr(before);
    const std::size_t end = text.find("\r\n\r\n");
    TENURE_CHECK(text.starts_with(status_line) && end != std::string_view::npos);
    TENURE_CHECK(text.find('\n') == text.find("\r\n") + 1);
  }

  void send(std::size_t most) {
    const std::string_view first = connection_.unsent()[0];
    const std::string_view taken = first.substr(0, most);
    sent_ += taken;
    connection_.sent(taken.size(), now);
  }

  const core::time_point now{2s};
  http::traffic counted_;
  http::connection_group group_{limits, counted_};
  http::server_connection connection_{group_, std::nullopt, now};
  std::string sent_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string at_once = client().talk(bytes, std::max<std::size_t>(size, 1), SIZE_MAX);
  TENURE_CHECK(at_once.empty() || at_once.starts_with(status_line));
  TENURE_CHECK(client().talk(bytes, 1, SIZE_MAX) == at_once);
  TENURE_CHECK(client().talk(bytes, 7, 5) == at_once);
  return 0;
}
