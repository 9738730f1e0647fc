// Every request gets an answer, with any target and headers; and none of them makes a member
// say that it is the holder when its lease has run out.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/answer.hpp"
#include "api/router.hpp"
#include "core/check.hpp"

namespace {

using namespace tenure;

constexpr core::time_point stop_at{std::chrono::seconds(100)};

api::snapshot holder() {
  api::election_snapshot e;
  e.name = "db";
  e.view.phase = core::phase::active;
  e.view.workload_running = true;
  e.view.since = core::time_point(std::chrono::seconds(1));
  e.view.lease = core::lease{.version = core::version{7}, .stop_at = stop_at};
  api::snapshot s;
  s.identity = "me";
  s.store_opened = true;
  s.elections.push_back(std::move(e));
  return s;
}

/// The next line of the input.
std::string take_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  std::string line(rest.substr(0, end));
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const api::snapshot seen = holder();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  http::request asked;
  asked.method = take_line(rest);
  auto target = http::parse_target(take_line(rest));
  if (!target) return 0;
  asked.target = std::move(*target);
  if (!rest.empty()) asked.host = take_line(rest);
  if (!rest.empty()) asked.origin = take_line(rest);
  if (!rest.empty()) asked.accept = take_line(rest);
  asked.body = std::string(rest);

  const api::instant late{.now = stop_at, .unix_ms = 0};
  const api::heartbeat alive{.last_beat = stop_at, .bound = std::chrono::seconds(10)};
  for (const api::routed& wanted :
       {api::route(asked, seen, {}), api::route_probe(asked, seen, {})}) {
    const auto* const read = wanted ? std::get_if<api::read_call>(&*wanted) : nullptr;
    if (wanted && read == nullptr) continue;
    const http::response answer = wanted ? api::answer(*read, seen, alive, late) : wanted.error();
    TENURE_CHECK(answer.status >= 200 && answer.status < 600);
    TENURE_CHECK(answer.body.find("\"is_self\":true") == std::string::npos);
  }
  return 0;
}
