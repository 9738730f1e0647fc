// Any bytes may come instead of a reply of Consul: they are refused, or read as something that
// makes sense; and whatever keys it shows, one state after the other, a mirror stays within its
// slots.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.hpp"
#include "stores/consul/codec.hpp"
#include "stores/consul/layout.hpp"
#include "stores/consul/mirror.hpp"
#include "stores/consul/reply_error.hpp"
#include "stores/consul/requests.hpp"
#include "stores/consul/semaphore_codec.hpp"

namespace {

using namespace tenure;
using namespace tenure::stores;
using namespace tenure::stores::consul;

constexpr std::size_t longest_refusal = 300;

template <class Reply>
bool good(const parsed<Reply>& reply) {
  if (!reply) TENURE_CHECK(!reply.error().why.empty());
  if (!reply) TENURE_CHECK(reply.error().why.size() <= longest_refusal);
  return reply.has_value();
}

void check(const key_value& kv) {
  TENURE_CHECK(!kv.key.empty() && kv.create_index > 0);
  TENURE_CHECK(kv.create_index <= kv.modify_index);
  TENURE_CHECK(kv.session.empty() || is_session_id(kv.session));
  const auto body = parse_semaphore(kv.value);
  if (body) TENURE_CHECK(parse_semaphore(semaphore_text(*body)) == body);
  parse_signature(kv.value);
}

void read_as_every_reply(std::string_view body) {
  const auto session = parse_session(body);
  if (good(session)) TENURE_CHECK(is_session_id(*session));
  const auto renewal = parse_renewal(body, "adf4238a-882b-9ddc-4a9d-5b6758e4159e");
  if (good(renewal) && *renewal) TENURE_CHECK(**renewal > core::duration::zero());
  for (const int status : {200, 409}) {
    const auto done = parse_transaction(status, body);
    if (!good(done)) continue;
    TENURE_CHECK((status == 409) == !done->failed.empty());
    for (const key_value& kv : done->shown) check(kv);
  }
  const auto self = parse_agent(body);
  if (good(self)) TENURE_CHECK(!self->version.empty());
}

void read_as_error(std::string_view body) {
  for (const unsigned status : {400U, 403U, 404U, 500U}) {
    const reply_error error = read_error(status, body);
    if (error.meaning == error_meaning::session_gone) TENURE_CHECK(status == 404);
    TENURE_CHECK(text(error).find('\n') == std::string::npos);
  }
}

/// The same keys in three states: all of them, all but the first, and all again.
void follow(std::string_view body, std::uint32_t slots) {
  const auto keys = parse_keys(body);
  if (!good(keys)) return;
  for (const key_value& kv : *keys) check(kv);
  const own_run self{.mark = "tenure-1", .identity = "a", .sessions = {}};
  const settings::election election{.name = "db", .slots = slots};
  mirror m(election, self);
  const std::span all(*keys);
  m.replace(all, 1);
  for (const auto& state : {all.subspan(1), all}) {
    m.follow(state, 2);
    TENURE_CHECK(m.observe().holders.size() == m.holders().size());
    TENURE_CHECK(m.has_room() || !m.holders().empty());
    const basis now = m.basis_now();
    if (!m.trouble().empty()) continue;
    const auto wanted = campaign_transaction(election, now, "s", "a tenure-1");
    TENURE_CHECK(wanted.size() >= 2 && wanted.size() <= most_operations);
    transaction_request(wanted);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  read_as_every_reply(body);
  read_as_error(body);
  follow(body, 1);
  follow(body, 2);
  return 0;
}
