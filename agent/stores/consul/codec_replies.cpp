#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/duration_text.hpp"
#include "base/number_text.hpp"
#include "stores/consul/codec.hpp"
#include "stores/json_codec.hpp"

namespace tenure::stores::consul {
namespace {

using nlohmann::json;

constexpr std::string_view id_digits = "0123456789abcdef-";
/// Consul keeps no session longer than a day after a renewal.
constexpr core::duration longest_ttl = std::chrono::hours(24);
/// No Consul ever reaches a larger index, and many programs that compare versions could not read
/// it.
constexpr std::uint64_t last_index = std::numeric_limits<std::int64_t>::max();

key_value key_value_of(const fields& from) {
  key_value out{.key = from.text("Key"),
                .value = from.bytes("Value"),
                .flags = from.number<std::uint64_t>("Flags"),
                .lock_index = from.number<std::uint64_t>("LockIndex"),
                .create_index = from.number<std::uint64_t>("CreateIndex"),
                .modify_index = from.number<std::uint64_t>("ModifyIndex"),
                .session = from.text("Session")};
  from.require(!out.key.empty(), "Key", "is empty");
  from.require(out.create_index > 0, "CreateIndex", "is missing");
  from.require(out.create_index <= out.modify_index, "ModifyIndex", "is before the creation");
  from.require(out.modify_index <= last_index, "ModifyIndex", "is not an index");
  from.require(out.session.empty() || is_session_id(out.session), "Session", "is not an id");
  return out;
}

/// The words are the same in 1.8.7 and in 1.21.0, which the suite asks.
failure failure_of(std::string_view what) {
  struct words {
    std::string_view begin;
    std::string_view end;
    failure mean;
  };
  static constexpr std::array<words, 10> known{{
      {"failed to lock key ", "lock is already held", failure::held},
      {"failed to lock key ", "due to lock delay", failure::delayed},
      {"invalid session ", "", failure::no_session},
      {"failed session check for key ", "", failure::changed},
      {"failed to check session, key ", "doesn't exist", failure::changed},
      {"failed index check for key ", "", failure::changed},
      {"failed to check index, key ", "doesn't exist", failure::changed},
      {"failed to unlock key ", "", failure::changed},
      {"key ", " exists", failure::changed},
      {"key ", "doesn't exist", failure::changed},
  }};
  const auto said = std::ranges::find_if(known, [what](const words& one) {
    return what.starts_with(one.begin) && what.ends_with(one.end);
  });
  if (said != known.end()) return said->mean;
  return what.ends_with("index is stale") ? failure::changed : failure::other;
}

failed_operation failed_operation_of(const fields& from) {
  failed_operation out{.which = from.number<std::size_t>("OpIndex"), .what = from.text("What")};
  out.why = failure_of(out.what);
  from.require(out.which < most_operations, "OpIndex", "is out of range");
  from.require(!out.what.empty(), "What", "is missing");
  return out;
}

/// What a transaction that was executed shows of an operation.
struct expected_key {
  const std::string* key = nullptr;         ///< null: it shows nothing
  const std::string* session = nullptr;     ///< who holds it then; null: anybody
  std::optional<std::uint64_t> index = {};  ///< the index of the last write
  bool is_free = false;                     ///< nobody holds it then
};

expected_key expected_of(const check_session& what) {
  return {.key = &what.key, .session = &what.session};
}
expected_key expected_of(const check_index& what) {
  return {.key = &what.key, .index = what.index};
}
expected_key expected_of(const lock& what) {
  return {.key = &what.key, .session = &what.session};
}
expected_key expected_of(const unlock& what) {
  return {.key = &what.key, .is_free = true};
}
expected_key expected_of(const write& what) {
  return {.key = &what.key};
}
expected_key expected_of(const fetch& what) {
  return {.key = &what.key};
}
expected_key expected_of(const check_absent&) {
  return {};
}
expected_key expected_of(const erase&) {
  return {};
}

bool shows(const key_value& shown, const expected_key& expected) {
  return shown.key == *expected.key && (!expected.index || shown.modify_index == *expected.index) &&
         (expected.session == nullptr || shown.session == *expected.session) &&
         (!expected.is_free || shown.session.empty());
}

parsed<json> read_list(std::string_view body) {
  auto document = read_document(body);
  if (document && !document->is_array()) {
    return std::unexpected(malformed_body("it is not a JSON list", body));
  }
  return document;
}

}  // namespace

bool is_session_id(std::string_view text) {
  return text.size() == 36 && text.find_first_not_of(id_digits) == std::string_view::npos;
}

parsed<std::string> parse_session(std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  verdict by;
  const fields from(*document, by);
  std::string id = from.text("ID");
  from.require(is_session_id(id), "ID", "is not an id");
  return unless_refused(std::move(id), by, body);
}

parsed<std::optional<core::duration>> parse_renewal(std::string_view body, std::string_view id) {
  const auto document = read_list(body);
  if (!document) return std::unexpected(document.error());
  if (document->size() != 1) {
    return std::unexpected(malformed_body("it is not about one session", body));
  }
  verdict by;
  const fields from(document->front(), by);
  from.require(from.text("ID") == id, "ID", "is that of another session");
  const std::string ttl = from.text("TTL");
  if (ttl.empty()) return unless_refused(std::optional<core::duration>(), by, body);
  const auto out = base::read_duration(ttl, longest_ttl);
  from.require(out && *out > core::duration::zero(), "TTL", "is not a duration");
  return unless_refused(out ? std::optional(*out) : std::nullopt, by, body);
}

parsed<transaction_reply> parse_transaction(int status, std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  verdict by;
  const fields from(*document, by);
  transaction_reply out;
  for (const json& one : from.list("Results")) {
    // Consul also tells of nodes, services and checks, which we never ask for.
    out.shown.push_back(key_value_of(fields(one, by).object("KV")));
  }
  for (const json& one : from.list("Errors")) {
    out.failed.push_back(failed_operation_of(fields(one, by)));
  }
  from.require((status == 409) == !out.failed.empty(), "Errors", "contradict the status");
  from.require(out.failed.empty() || out.shown.empty(), "Results", "come beside errors");
  return unless_refused(std::move(out), by, body);
}

std::string contradiction(std::span<const operation> asked, const transaction_reply& reply) {
  for (const failed_operation& one : reply.failed) {
    if (one.which >= asked.size()) return "an operation has failed that was not asked for";
  }
  if (!reply.failed.empty()) return {};
  auto shown = reply.shown.begin();
  for (const operation& one : asked) {
    const expected_key expected =
        std::visit([](const auto& what) { return expected_of(what); }, one);
    if (expected.key == nullptr) continue;
    if (shown == reply.shown.end()) return "the key " + *expected.key + " is not shown";
    if (!shows(*shown, expected)) {
      return "the key " + *expected.key + " is not shown as the request leaves it";
    }
    ++shown;
  }
  return shown == reply.shown.end() ? "" : "more keys are shown than were asked for";
}

parsed<std::vector<key_value>> parse_keys(std::string_view body) {
  const auto document = read_list(body);
  if (!document) return std::unexpected(document.error());
  verdict by;
  std::vector<key_value> out;
  for (const json& one : *document) out.push_back(key_value_of(fields(one, by)));
  if (out.empty()) by.refuse("the list", "is empty");
  const bool sorted = std::ranges::is_sorted(out, std::ranges::less_equal{}, &key_value::key);
  if (!sorted) by.refuse("Key", "is there twice or not in order");
  return unless_refused(std::move(out), by, body);
}

bool has_partitions(std::string_view version) {
  constexpr std::pair since{1U, 11U};
  const std::size_t dot = version.find('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view rest = version.substr(dot + 1);
  const auto major = base::read_number<unsigned>(version.substr(0, dot));
  const auto minor = base::read_number<unsigned>(rest.substr(0, rest.find('.')));
  return major && minor && std::pair(*major, *minor) >= since;
}

parsed<agent_reply> parse_agent(std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  verdict by;
  const fields from = fields(*document, by).object("Config");
  agent_reply out{.version = from.ascii("Version"), .datacenter = from.ascii("Datacenter")};
  from.require(!out.version.empty(), "Version", "is missing");
  return unless_refused(std::move(out), by, body);
}

}  // namespace tenure::stores::consul
