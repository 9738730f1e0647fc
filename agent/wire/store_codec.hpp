#pragma once

#include "wire/election.hpp"
#include "wire/json_codec.hpp"

namespace tenure::wire {

/// How the store answers, as several documents have it.
void describe(maybe_const<store_report> auto& of, auto& with) {
  with.or_null("kind", of.kind);
  with("reachable", of.reachable);
  with("last_answer_ms", of.last_answer_ms);
  with.or_null("why", of.why);
}

}  // namespace tenure::wire
