#include "stores/consul/layout.hpp"

#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "base/number_text.hpp"
#include "base/percent_text.hpp"
#include "stores/records/record_words.hpp"

namespace tenure::stores::consul {
namespace {

/// Shows what the second word is, to people and to us.
constexpr std::string_view mark_prefix = "tenure-";
constexpr std::size_t words_at_least = 2;
constexpr std::string_view slot_word = "slot=";

std::string below(std::string_view election, std::string_view what) {
  return prefix_of(election).append(".tenure/").append(what);
}

}  // namespace

std::string prefix_of(std::string_view election) {
  return std::string(election) + "/";
}

std::string lock_key(std::string_view election) {
  return prefix_of(election).append(".lock");
}

std::string contender_key(std::string_view election, std::string_view session) {
  return prefix_of(election).append(session);
}

std::string release_key(std::string_view election) {
  return below(election, "release");
}

std::string agreement_key(std::string_view election) {
  return below(election, "agreement");
}

std::string member_prefix(std::string_view election) {
  return below(election, "members/");
}

std::string member_key(std::string_view election, std::string_view session) {
  return member_prefix(election).append(session);
}

std::string ready_prefix(std::string_view election) {
  return below(election, "ready/");
}

std::string ready_key(std::string_view election, std::string_view session) {
  return ready_prefix(election).append(session);
}

std::string order_prefix(std::string_view election) {
  return below(election, "orders/");
}

std::string order_key(std::string_view election, std::string_view id) {
  return order_prefix(election).append(id);
}

std::string mark_of(std::string_view session_of_the_agent) {
  return std::string(mark_prefix) + base::hex(base::digest(session_of_the_agent));
}

std::string signature_text(const signature& what) {
  std::string out = word_of(what.identity);
  out.append(" ").append(what.mark);
  if (what.version != core::no_version) {
    out.append(" ").append(std::to_string(core::number(what.version)));
  }
  if (what.slot != 0) out.append(" ").append(slot_word).append(std::to_string(what.slot));
  return out;
}

signature parse_signature(std::string_view text) {
  std::vector<std::string_view> words = words_of(text);
  const signature foreign{.identity = std::string(text), .mark = {}};
  if (words.size() < words_at_least) return foreign;
  auto identity = base::percent_decoded(words[0]);
  if (!identity || !words[1].starts_with(mark_prefix)) return foreign;
  signature out{.identity = std::move(*identity), .mark = std::string(words[1])};
  if (words.size() > words_at_least && words.back().starts_with(slot_word)) {
    const auto slot = base::read_number<std::uint32_t>(words.back().substr(slot_word.size()));
    if (!slot) return foreign;
    out.slot = *slot;
    words.pop_back();
  }
  if (words.size() == words_at_least) return out;
  const auto version = base::read_number<std::uint64_t>(words.back());
  if (!version || words.size() > words_at_least + 1) return foreign;
  out.version = core::version{*version};
  return out;
}

}  // namespace tenure::stores::consul
