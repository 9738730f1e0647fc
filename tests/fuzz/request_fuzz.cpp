// Bytes from anybody, through the reader of requests and the API: every request that is taken is
// answered with one well-formed message, however the bytes are cut into pieces.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "api/answer.hpp"
#include "core/check.hpp"
#include "net/request_reader.hpp"
#include "net/response_text.hpp"

namespace {

using namespace tenure;

constexpr net::request_limits limits{.header_bytes = 512, .body_bytes = 128};
/// Beyond the limits there is only what may stand around the chunks of a body.
constexpr std::size_t most_incomplete = 512 + 128 + 2 * 4096;

api::snapshot holder() {
  api::election_snapshot e;
  e.name = "db";
  e.index = 1;
  e.view.phase = core::phase::active;
  e.view.since = core::time_point(std::chrono::seconds(1));
  api::snapshot s;
  s.index = 1;
  s.agent = "run";
  s.identity = "me";
  s.elections.push_back(std::move(e));
  return s;
}

void check_answer(const net::request& asked, bool head) {
  static const api::snapshot seen = holder();
  static api::election_pages pages;
  const api::instant at{.now = core::time_point(std::chrono::seconds(2)), .unix_ms = 0};
  const api::pulse alive{.last_beat = at.now, .bound = std::chrono::seconds(10)};
  const net::response answer = api::answer(asked, seen, alive, at, {}, pages);
  const std::string text = net::response_text(answer, {.head = head}, 0);
  const std::size_t end = text.find("\r\n\r\n");
  TENURE_CHECK(end != std::string::npos);
  TENURE_CHECK(text.find('\n') == text.find("\r\n") + 1);
  if (head) TENURE_CHECK(text.size() == end + 4);
}

/// The size of the first request, if there is one; nothing: there will never be.
std::optional<std::size_t> read_first(std::string_view bytes) {
  net::read_result whole = net::read_request(bytes, limits);
  if (std::holds_alternative<net::incomplete>(whole)) {
    TENURE_CHECK(bytes.size() < most_incomplete);
    return std::nullopt;
  }
  if (const auto* why = std::get_if<net::rejection>(&whole)) {
    TENURE_CHECK(why->status == 400 || why->status == 413 || why->status == 431);
    return std::nullopt;
  }
  const auto& asked = std::get<net::received_request>(whole);
  TENURE_CHECK(asked.size > 0 && asked.size <= bytes.size());
  TENURE_CHECK(asked.what.body.size() <= limits.body_bytes);
  // One byte less is never another request, and what follows does not matter.
  const net::read_result less = net::read_request(bytes.substr(0, asked.size - 1), limits);
  TENURE_CHECK(std::holds_alternative<net::incomplete>(less));
  const net::read_result alone = net::read_request(bytes.substr(0, asked.size), limits);
  TENURE_CHECK(std::holds_alternative<net::received_request>(alone));
  check_answer(asked.what, asked.head);
  return asked.size;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (const auto used = read_first(rest)) rest.remove_prefix(*used);
  return 0;
}
