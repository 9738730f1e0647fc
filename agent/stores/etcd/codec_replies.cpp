#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "stores/etcd/codec.hpp"
#include "stores/json_codec.hpp"

namespace tenure::stores::etcd {
namespace {

using json = nlohmann::json;

reply_header header_of(const fields& reply) {
  const fields from = reply.object("header");
  reply_header header{.cluster_id = from.number<std::uint64_t>("cluster_id"),
                      .member_id = from.number<std::uint64_t>("member_id"),
                      .revision = from.number<std::uint64_t>("revision"),
                      .raft_term = from.number<std::uint64_t>("raft_term")};
  from.require(header.cluster_id != 0 && header.member_id != 0, "header", "names no server");
  // Revisions are int64 in etcd: a larger one would wrap around in our requests.
  from.require(std::in_range<std::int64_t>(header.revision), "revision", "is out of range");
  return header;
}

/// The first revision of every etcd is 1.
reply_header header_with_revision(const fields& reply) {
  const reply_header header = header_of(reply);
  reply.require(header.revision > 0, "header", "has no revision");
  return header;
}

key_value key_value_of(const fields& from, const reply_header& header, bool erased) {
  key_value kv{.key = from.bytes("key"),
               .value = from.bytes("value"),
               .create_revision = from.number<std::uint64_t>("create_revision"),
               .mod_revision = from.number<std::uint64_t>("mod_revision"),
               .lease = from.number<std::int64_t>("lease")};
  from.require(!kv.key.empty(), "key", "is empty");
  from.require(erased || kv.create_revision > 0, "create_revision", "is missing");
  from.require(kv.mod_revision > 0, "mod_revision", "is missing");
  from.require(kv.create_revision <= kv.mod_revision, "mod_revision", "is before the creation");
  from.require(kv.mod_revision <= header.revision, "mod_revision", "is later than the reply");
  return kv;
}

range_reply range_reply_of(const fields& from, const reply_header& header) {
  range_reply out{.header = header, .values = {}, .more = from.flag("more")};
  for (const json& one : from.list("kvs")) {
    out.values.push_back(key_value_of(fields(one, from.judged()), header, false));
  }
  const auto count = from.number<std::int64_t>("count");
  from.require(std::cmp_greater_equal(count, out.values.size()), "count", "is less than the keys");
  return out;
}

transaction_reply::part part_of(const fields& from, const reply_header& header) {
  const bool is_put = from.find("response_put") != nullptr;
  const bool is_erase = from.find("response_delete_range") != nullptr;
  const bool is_range = from.find("response_range") != nullptr;
  from.require(int{is_put} + int{is_erase} + int{is_range} == 1, "responses",
               "has a part that is not one of put, delete and range");
  if (is_range) return range_reply_of(from.object("response_range"), header);
  if (is_put) {
    from.object("response_put");
    return put_done{};
  }
  const fields erased = from.object("response_delete_range");
  const auto count = erased.number<std::int64_t>("deleted");
  erased.require(count >= 0, "deleted", "is negative");
  return erase_done{count};
}

watch_event event_of(const fields& from, const reply_header& header) {
  const std::string type = from.text("type");
  from.require(type.empty() || type == "PUT" || type == "DELETE", "type", "is unknown");
  const bool erased = type == "DELETE";
  return {.erased = erased, .kv = key_value_of(from.object("kv"), header, erased)};
}

grant_reply read(const fields& from, std::type_identity<grant_reply>) {
  grant_reply out{.header = header_with_revision(from),
                  .id = from.number<std::int64_t>("ID"),
                  .ttl_seconds = from.number<std::int64_t>("TTL")};
  from.require(from.text("error").empty(), "error", "is set in a grant");
  from.require(out.id > 0, "ID", "is not positive");
  from.require(out.ttl_seconds > 0 && out.ttl_seconds <= max_ttl_seconds, "TTL", "is out of range");
  return out;
}

keep_alive_reply read(const fields& from, std::type_identity<keep_alive_reply>) {
  keep_alive_reply out{.header = header_with_revision(from),
                       .id = from.number<std::int64_t>("ID"),
                       .ttl_seconds = from.number<std::int64_t>("TTL")};
  from.require(out.id > 0, "ID", "is not positive");
  from.require(out.ttl_seconds >= 0 && out.ttl_seconds <= max_ttl_seconds, "TTL",
               "is out of range");
  return out;
}

revoke_reply read(const fields& from, std::type_identity<revoke_reply>) {
  return {.header = header_with_revision(from)};
}

range_reply read(const fields& from, std::type_identity<range_reply>) {
  return range_reply_of(from, header_with_revision(from));
}

transaction_reply read(const fields& from, std::type_identity<transaction_reply>) {
  transaction_reply out{
      .header = header_with_revision(from), .succeeded = from.flag("succeeded"), .parts = {}};
  for (const json& one : from.list("responses")) {
    out.parts.push_back(part_of(fields(one, from.judged()), out.header));
  }
  return out;
}

watch_reply read(const fields& from, std::type_identity<watch_reply>) {
  watch_reply out{.header = header_of(from),
                  .watch_id = from.number<std::int64_t>("watch_id"),
                  .created = from.flag("created"),
                  .canceled = from.flag("canceled"),
                  .compact_revision = from.number<std::uint64_t>("compact_revision"),
                  .cancel_reason = from.text("cancel_reason"),
                  .events = {}};
  for (const json& one : from.list("events")) {
    out.events.push_back(event_of(fields(one, from.judged()), out.header));
  }
  from.require(out.canceled || out.header.revision > 0, "header", "has no revision");
  from.require(out.canceled || (out.compact_revision == 0 && out.cancel_reason.empty()), "canceled",
               "is missing beside its reason");
  from.require(out.events.empty() || !(out.canceled || out.created), "events",
               "come with the beginning or end of their watch");
  from.require(std::in_range<std::int64_t>(out.compact_revision), "compact_revision",
               "is out of range");
  return out;
}

authenticate_reply read(const fields& from, std::type_identity<authenticate_reply>) {
  authenticate_reply out{.header = header_of(from), .token = from.ascii("token")};
  from.require(!out.token.empty(), "token", "is empty");
  return out;
}

version_reply read(const fields& from, std::type_identity<version_reply>) {
  version_reply out{.server = from.ascii("etcdserver"), .cluster = from.ascii("etcdcluster")};
  from.require(!out.server.empty(), "etcdserver", "is missing");
  return out;
}

template <class Reply>
parsed<Reply> reply_in(const json& object, std::string_view body) {
  verdict judged;
  Reply reply = read(fields(object, judged), std::type_identity<Reply>{});
  return unless_refused(std::move(reply), judged, body);
}

template <class Reply>
parsed<Reply> parse(std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  return reply_in<Reply>(*document, body);
}

template <class Reply>
parsed<Reply> parse_streamed(std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  const auto result = document->find("result");
  return reply_in<Reply>(result != document->end() ? *result : *document, body);
}

}  // namespace

parsed<grant_reply> parse_grant(std::string_view body) {
  return parse<grant_reply>(body);
}

parsed<keep_alive_reply> parse_keep_alive(std::string_view document) {
  return parse_streamed<keep_alive_reply>(document);
}

parsed<revoke_reply> parse_revoke(std::string_view body) {
  return parse<revoke_reply>(body);
}

parsed<range_reply> parse_range(std::string_view body) {
  return parse<range_reply>(body);
}

parsed<transaction_reply> parse_transaction(std::string_view body) {
  return parse<transaction_reply>(body);
}

parsed<watch_reply> parse_watch(std::string_view document) {
  return parse_streamed<watch_reply>(document);
}

parsed<authenticate_reply> parse_authenticate(std::string_view body) {
  return parse<authenticate_reply>(body);
}

parsed<version_reply> parse_version(std::string_view body) {
  return parse<version_reply>(body);
}

std::optional<error_fields> parse_error(std::string_view document) {
  const auto whole = read_object(document);
  if (!whole) return std::nullopt;
  const auto nested = whole->find("error");
  const bool in_stream = nested != whole->end() && nested->is_object();
  verdict judged;
  const fields from(in_stream ? *nested : *whole, judged);
  error_fields out;
  out.message = from.text("message");
  if (out.message.empty() && !in_stream) out.message = from.text("error");
  for (const char* name : {"code", "grpc_code"}) {
    if (from.find(name) != nullptr) out.code = from.number<int>(name);
  }
  const bool says_something = !out.message.empty() || out.code > 0;
  if (!judged.why.empty() || (!in_stream && !says_something)) return std::nullopt;
  return out;
}

}  // namespace tenure::stores::etcd
