// Any bytes may come instead of a reply of etcd: they are refused, or read as something that makes
// sense; and a stream gives the same documents however it is cut.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/base64.hpp"
#include "core/check.hpp"
#include "stores/document_splitter.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/etcd/gateway_error.hpp"

namespace {

using namespace tenure::stores;
using namespace tenure::stores::etcd;

constexpr std::size_t longest_refusal = 200;

template <class Reply>
bool good(const parsed<Reply>& reply) {
  if (!reply) TENURE_CHECK(!reply.error().why.empty());
  if (!reply) TENURE_CHECK(reply.error().why.size() <= longest_refusal);
  return reply.has_value();
}

void check(const key_value& kv, const reply_header& header) {
  TENURE_CHECK(!kv.key.empty());
  TENURE_CHECK(kv.create_revision <= kv.mod_revision && kv.mod_revision <= header.revision);
  TENURE_CHECK(tenure::base::from_base64(tenure::base::to_base64(kv.key)) == kv.key);
}

void check(const range_reply& reply) {
  for (const key_value& kv : reply.values) {
    check(kv, reply.header);
    TENURE_CHECK(kv.create_revision > 0);
  }
}

void read_as_every_reply(std::string_view body) {
  const auto grant = parse_grant(body);
  if (good(grant)) TENURE_CHECK(grant->id > 0 && grant->ttl_seconds > 0);
  if (grant) TENURE_CHECK(grant->ttl_seconds <= max_ttl_seconds);
  const auto alive = parse_keep_alive(body);
  if (good(alive)) TENURE_CHECK(alive->id > 0 && alive->ttl_seconds >= 0);
  good(parse_revoke(body));
  const auto range = parse_range(body);
  if (good(range)) check(*range);
  const auto done = parse_transaction(body);
  if (good(done)) {
    for (const auto& part : done->parts) {
      if (const auto* read = std::get_if<range_reply>(&part)) check(*read);
    }
  }
  const auto watch = parse_watch(body);
  if (good(watch)) {
    for (const watch_event& event : watch->events) check(event.kv, watch->header);
    read_cancel_reason(watch->cancel_reason);
  }
  const auto token = parse_authenticate(body);
  if (good(token)) TENURE_CHECK(token->token.find_first_of("\r\n") == std::string::npos);
  good(parse_version(body));
}

void read_as_error(std::string_view body) {
  const gateway_error error = read_error(404, body);
  if (error.meaning == error_meaning::lease_gone) TENURE_CHECK(error.code == 5);
  if (error.meaning == error_meaning::lease_gone) TENURE_CHECK(parse_error(body).has_value());
  TENURE_CHECK(error.message.find('\n') == std::string::npos);
}

void read_as_stream(std::string_view body) {
  const std::size_t cut = body.empty() ? 0 : static_cast<unsigned char>(body[0]) % body.size();
  document_splitter whole;
  document_splitter pieces;
  const auto all = whole.feed(body);
  auto cut_up = pieces.feed(body.substr(0, cut));
  const auto rest = pieces.feed(body.substr(cut));
  TENURE_CHECK(all.has_value() == rest.has_value());
  TENURE_CHECK(whole.between_documents() == pieces.between_documents());
  if (!all) return;
  cut_up->insert(cut_up->end(), rest->begin(), rest->end());
  TENURE_CHECK(*all == *cut_up);
  for (const std::string& document : *all) read_as_every_reply(document);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  read_as_every_reply(body);
  read_as_error(body);
  read_as_stream(body);
  return 0;
}
