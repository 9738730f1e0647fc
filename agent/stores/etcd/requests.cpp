#include "stores/etcd/requests.hpp"

#include <utility>

#include "core/check.hpp"
#include "stores/records/agreement_text.hpp"

namespace tenure::stores::etcd {
namespace {

range whole(const key_range& keys) {
  return {.key = keys.begin, .end = keys.end, .by = range::order::create_ascend};
}

/// A key that does not exist has this in every number.
constexpr std::uint64_t not_there = 0;

std::vector<compare> still(std::string_view election, const basis& on) {
  const std::string prefix = prefix_of(election);
  return {{.key = prefix,
           .end = prefix_end(prefix),
           .what = compare::field::create_revision,
           .is = compare::relation::less,
           .number = on.newest + 1},
          {.key = agreement_key(election),
           .what = compare::field::mod_revision,
           .is = compare::relation::equal,
           .number = on.agreed}};
}

void seal_with(transaction& what, std::string_view election, std::int64_t lease,
               const std::string& seal) {
  if (seal.empty()) return;
  what.then.emplace_back(put{.key = seal_key(election, lease), .value = seal, .lease = lease});
}

/// Says our number of slots, if the election has another one, or none. `still` has it that nobody
/// has said one meanwhile.
void agree_on_ours(transaction& what, const settings::election& election, const basis& on) {
  if (on.said.slots == election.slots) return;
  core::agreement next = on.said;
  next.slots = election.slots;
  what.then.emplace_back(put{.key = agreement_key(election.name), .value = agreement_text(next)});
}

compare created_as(const dated_key& one) {
  return {.key = one.key,
          .what = compare::field::create_revision,
          .is = compare::relation::equal,
          .number = one.create_revision};
}

}  // namespace

transaction read_transaction(std::span<const key_range> ranges) {
  TENURE_CHECK(ranges.size() <= most_operations);
  transaction out;
  for (const key_range& one : ranges) out.then.emplace_back(whole(one));
  return out;
}

parsed<reads> reads_in(std::string_view body, std::size_t count) {
  auto reply = parse_transaction(body);
  if (!reply) return std::unexpected(std::move(reply.error()));
  reads out{.header = reply->header, .succeeded = reply->succeeded, .values = {}};
  for (auto& part : reply->parts) {
    if (auto* read = std::get_if<range_reply>(&part)) out.values.push_back(std::move(read->values));
  }
  if (out.values.size() != count) {
    return std::unexpected(malformed{"a transaction was answered with " +
                                     std::to_string(out.values.size()) + " reads instead of " +
                                     std::to_string(count)});
  }
  return out;
}

transaction campaign_transaction(const settings::election& election, std::int64_t lease,
                                 const std::string& identity, const basis& on,
                                 const std::string& seal) {
  transaction out{.when = still(election.name, on), .then = {}, .otherwise = {}};
  agree_on_ours(out, election, on);
  out.then.emplace_back(
      put{.key = contender_key(election.name, lease, on.slot), .value = identity, .lease = lease});
  seal_with(out, election.name, lease, seal);
  out.then.emplace_back(whole(range_of(election.name)));
  out.otherwise.emplace_back(whole(range_of(election.name)));
  return out;
}

transaction place_transaction(const settings::election& election, std::int64_t lease,
                              const std::string& identity, const basis& on, const dated_key& ahead,
                              const std::string& seal) {
  const std::string key = contender_key(election.name, lease, 0);
  transaction out{.when = still(election.name, on),
                  .then = {put{.key = key, .value = identity, .lease = lease}},
                  .otherwise = {}};
  out.when.push_back(created_as(ahead));
  out.when.push_back(created_as({.key = key, .create_revision = not_there}));
  // Who is ahead may know nothing of slots, and the place becomes a term without another write.
  agree_on_ours(out, election, on);
  seal_with(out, election.name, lease, seal);
  return out;
}

transaction leaving_transaction(const dated_key& own, const dated_key& ahead,
                                std::span<const std::string> also) {
  transaction out{.when = {created_as(own), created_as(ahead)},
                  .then = {erase{.key = own.key}},
                  .otherwise = {}};
  for (const std::string& one : also) out.then.emplace_back(erase{.key = one});
  return out;
}

range line_of(std::string_view election) {
  const std::string prefix = prefix_of(election);
  return whole({.begin = prefix, .end = prefix_end(prefix)});
}

transaction agreement_transaction(std::string_view election, const core::agreement& what,
                                  const basis& on) {
  return {.when = still(election, on),
          .then = {put{.key = agreement_key(election), .value = agreement_text(what)}},
          .otherwise = {whole(range_of(election))}};
}

transaction release_transaction(std::string_view election, const std::string& key,
                                core::version version, const std::string& note,
                                std::span<const std::string> also) {
  transaction out{.when = {created_as({.key = key, .create_revision = core::number(version)})},
                  .then = {erase{.key = key}},
                  .otherwise = {}};
  for (const std::string& one : also) out.then.emplace_back(erase{.key = one});
  if (!note.empty()) {
    out.then.emplace_back(put{.key = release_record(election), .value = note, .lease = 0});
  }
  return out;
}

}  // namespace tenure::stores::etcd
