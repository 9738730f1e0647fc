// Any bytes may come instead of a reply of Kubernetes: they are refused, or read as something that
// makes sense; and whatever Leases it shows, one state after the other, a mirror stays within its
// slots, and what is written relies on what was seen.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/check.hpp"
#include "stores/kubernetes/codec.hpp"
#include "stores/kubernetes/layout.hpp"
#include "stores/kubernetes/mirror.hpp"
#include "stores/kubernetes/reply_error.hpp"

namespace {

using namespace tenure;
using namespace tenure::stores;
using namespace tenure::stores::kubernetes;
using nlohmann::json;

constexpr std::size_t longest_refusal = 300;
constexpr std::chrono::seconds ttl{15};

core::time_point at(std::int64_t seconds) {
  return core::time_point(std::chrono::seconds(seconds));
}

template <class Reply>
bool good(const parsed<Reply>& reply) {
  if (!reply) TENURE_CHECK(!reply.error().why.empty());
  if (!reply) TENURE_CHECK(reply.error().why.size() <= longest_refusal);
  return reply.has_value();
}

void check_notes(const lease_object& one) {
  const auto slots = parse_slots(one.note(slots_annotation));
  if (slots) TENURE_CHECK(parse_slots(slots_text(*slots)) == slots);
  const auto term = parse_term(one.note(term_annotation));
  if (term) TENURE_CHECK(parse_term(term_text(*term)).has_value());
  const signature by = parse_signature(one.holder);
  TENURE_CHECK(by.mark.empty() || by.mark.starts_with("tenure-"));
}

/// A write that relies on this Lease is a JSON Patch that tests what it says.
void check_writes(const lease_object& one) {
  const json sent = json::parse(
      patch(one, {{std::string(election_label), "db"}},
            {.holder = "a_tenure-1", .renewed_ms = renewal_time(1, 0)},
            {{std::string(term_annotation), std::nullopt}, {std::string(epoch_annotation), "1"}}));
  TENURE_CHECK(sent.at(0).at("value") == one.uid);
  TENURE_CHECK(sent.at(1).at("value") == std::to_string(one.resource_version));
  TENURE_CHECK(sent.at(2).at("op") == "test" && sent.at(2).at("path") == "/spec");
  TENURE_CHECK(sent.at(2).at("value") == json::parse(one.spec));
  for (const json& operation : sent) {
    TENURE_CHECK(operation.at("path").get<std::string>().starts_with('/'));
  }
  TENURE_CHECK(json::parse(deletion(one)).contains("preconditions"));
}

void check(const lease_object& one) {
  TENURE_CHECK(!one.name.empty() && !one.uid.empty() && one.resource_version > 0);
  TENURE_CHECK(one.duration_s.value_or(0) >= 0 && one.transitions >= 0);
  TENURE_CHECK(json::parse(one.spec).is_object());
  check_notes(one);
  check_writes(one);
}

void read_as_every_reply(std::string_view body) {
  const auto lease = parse_lease(body, "db");
  if (good(lease)) TENURE_CHECK(lease->name == "db");
  if (lease) check(*lease);
  const auto version = parse_version(body);
  if (good(version)) TENURE_CHECK(!version->empty());
}

void read_as_error(std::string_view body) {
  for (const unsigned status : {400U, 401U, 403U, 404U, 409U, 410U, 422U, 429U, 500U}) {
    const reply_error error = read_error(status, body);
    if (error.meaning == error_meaning::missing) TENURE_CHECK(status == 404);
    if (error.meaning == error_meaning::conflict) TENURE_CHECK(status == 409 || status == 422);
    TENURE_CHECK(text(error).find('\n') == std::string::npos);
  }
}

void check(const mirror& m, core::time_point now) {
  const core::observation shown = m.observe(now);
  std::size_t there = 0;
  for (const slot_holder& one : m.holders()) {
    if (one.ours || now < one.expires_at) ++there;
  }
  TENURE_CHECK(shown.holders.size() == there);
  TENURE_CHECK(m.next_change(now) > now);
  for (const lease_object& one : m.left_behind(now)) TENURE_CHECK(m.lease(one.name) != nullptr);
  const auto found = m.find_vacancy(now);
  if (!found) return;
  const lease_object* const its = m.lease(slot_name("db", found->slot));
  TENURE_CHECK(found->lease.has_value() == (its != nullptr));
  std::size_t held = 0;
  for (const slot_holder& one : m.holders()) {
    if (now < one.expires_at) ++held;
    // Nobody takes what somebody holds.
    TENURE_CHECK(one.slot != found->slot || now >= one.expires_at);
  }
  TENURE_CHECK(held < found->open.numbers.size());
}

const own_run self{.mark = "tenure-1", .identity = "a"};

/// The same Leases in four states: all of them, without the first, all again, and after a gap.
void follow_lists(const lease_list& all, std::uint32_t slots) {
  mirror m({.name = "db", .slots = slots}, self, ttl);
  const std::span items(all.items);
  const std::uint64_t version = all.resource_version;
  const auto take = [&](std::span<const lease_object> these, int when, bool missed) {
    m.take_all(part::first, these, version, at(when), 0, missed);
    m.take_all(part::others, these, version, at(when), 0, missed);
    check(m, at(when));
    check(m, at(when + 1'000'000'000));
  };
  take(items, 0, true);
  if (!items.empty()) take(items.subspan(1), 1, false);
  take(items, 2, false);
  take(items, 3, true);
}

/// Each line is a document of a watch.
void follow_watch(std::string_view text) {
  mirror m({.name = "db", .slots = 2}, self, ttl);
  int when = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto event = parse_event(line);
    if (!good(event)) continue;
    if (event->what == watch_event::type::error) continue;
    TENURE_CHECK(event->resource_version > 0);
    if (event->what == watch_event::type::bookmark) {
      m.reach(part::first, event->resource_version);
      m.reach(part::others, event->resource_version);
      continue;
    }
    check(event->object);
    if (!m.has(event->object)) continue;
    if (event->what == watch_event::type::deleted) {
      m.take_away(event->object.name, event->resource_version);
      ++when;
    } else {
      m.take(event->object, at(++when));
    }
    TENURE_CHECK(m.version() >= event->resource_version);
    check(m, at(when));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  read_as_every_reply(body);
  read_as_error(body);
  const auto list = parse_list(body);
  if (good(list)) {
    for (const lease_object& one : list->items) check(one);
    follow_lists(*list, 1);
    follow_lists(*list, 2);
  }
  follow_watch(body);
  return 0;
}
