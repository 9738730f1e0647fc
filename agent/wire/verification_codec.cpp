#include <nlohmann/json.hpp>

#include "core/number_text.hpp"
#include "wire/json_codec.hpp"
#include "wire/store_codec.hpp"
#include "wire/verification.hpp"

namespace tenure::wire {

static void describe(maybe_const<term_question> auto& of, auto& with) {
  with.version(of.term);
  with("holder", of.holder);
}

static void describe(maybe_const<verification> auto& of, auto& with) {
  with("valid", of.valid);
  with.if_any("reason", of.reason);
  with.if_any("message", of.message);
  with.if_any("action", of.action);
  with("election", of.election);
  with("asked", of.asked);
  with.holder(of.holder);
  with("holders", of.holders);
  with("source", of.source);
  with.time("as_of", of.as_of_unix_ms);
  with("age_ms", of.age_ms);
  with("expires_in_ms", of.expires_in_ms);
  with("identity", of.identity);
  with("store", of.store);
  with.or_null("cluster_id", of.cluster_id);
}

std::string write(const verification& what) {
  std::string out;
  append(out, what);
  return out;
}

std::optional<verification> read_verification(std::string_view body) {
  const nlohmann::json answer = parsed(body);
  verification out;
  const bool is_clear = member(answer, "valid").is_boolean() && read(answer, out);
  return is_clear && out.asked.term != core::no_version ? std::optional(std::move(out))
                                                        : std::nullopt;
}

}  // namespace tenure::wire
