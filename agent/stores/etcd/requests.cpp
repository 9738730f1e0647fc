#include "stores/etcd/requests.hpp"

#include <utility>

#include "core/check.hpp"

namespace tenure::stores::etcd {
namespace {

range whole(const key_range& keys) {
  return {.key = keys.begin, .end = keys.end, .by = range::order::create_ascend};
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

transaction campaign_transaction(std::string_view election, std::int64_t lease,
                                 const std::string& identity, std::uint64_t newest) {
  const std::string prefix = prefix_of(election);
  const range read = whole(range_of(election));
  return {
      .when = {{.key = prefix,
                .end = prefix_end(prefix),
                .what = compare::field::create_revision,
                .is = compare::relation::less,
                .number = newest + 1}},
      .then = {put{.key = contender_key(election, lease), .value = identity, .lease = lease}, read},
      .otherwise = {read}};
}

transaction release_transaction(std::string_view election, const std::string& key,
                                core::version term, const std::string& note) {
  transaction out{.when = {{.key = key,
                            .what = compare::field::create_revision,
                            .is = compare::relation::equal,
                            .number = core::number(term)}},
                  .then = {erase{.key = key}},
                  .otherwise = {}};
  if (!note.empty()) {
    out.then.emplace_back(put{.key = release_record(election), .value = note, .lease = 0});
  }
  return out;
}

}  // namespace tenure::stores::etcd
