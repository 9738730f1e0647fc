#include "kube/container_witness.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/backoff.hpp"
#include "kube/lines.hpp"
#include "kube/right.hpp"

namespace tenure::kube {
namespace {

/// For the first bytes of a watch.
constexpr core::duration patience = std::chrono::seconds(5);
/// When the server ends a watch.
constexpr core::duration watch_lasts = std::chrono::minutes(5);
/// Between two watches of a pod.
constexpr core::backoff pauses{.first = std::chrono::milliseconds(500),
                               .most = std::chrono::seconds(60)};
/// While the store still shows a term that has ended.
constexpr core::duration tells_again_after = std::chrono::seconds(1);

}  // namespace

/// The pod of a member that holds.
struct container_witness::watched {
  explicit watched(base::event_loop& on) : reopening(on), telling(on) {}

  std::unique_ptr<api_stream> stream{};  ///< null: it will be opened
  std::vector<container_end> ends{};     ///< by the newest status
  bool is_known = false;                 ///< its status has been seen
  std::uint32_t failures = 0;            ///< in a row
  std::set<std::string> said{};          ///< what the log has been told of
  base::timer reopening;
  base::timer telling;
};

container_witness::container_witness(parts with) : with_(std::move(with)) {}

container_witness::~container_witness() = default;

void container_witness::look(core::election_index which, const std::vector<core::holder>& holders,
                             bool waits) {
  const std::vector<term> before = std::exchange(terms_[which], {});
  const core::version newest = newest_[which];
  for (const core::holder& one : holders) {
    newest_[which] = std::max(newest_[which], one.version);
    if (!waits || one.ours) continue;
    const auto known = std::ranges::find(before, one, &term::its);
    if (known != before.end()) {
      terms_[which].push_back(*known);
      continue;
    }
    const std::string& election = with_.settings.elections[core::place(which)].name;
    term seen{.its = one, .last_words = last_words(election, one.version, one.sequencer)};
    seen.is_stale = one.version < newest || end_of(seen) != nullptr;
    terms_[which].push_back(std::move(seen));
  }
  std::set<std::string> wanted;
  for (const auto& [_, all] : terms_) {
    for (const term& one : all) wanted.insert(one.its.identity);
  }
  std::erase_if(pods_, [&](const auto& one) { return !wanted.contains(one.first); });
  for (const std::string& pod : wanted) {
    if (!pods_.contains(pod)) follow(pod);
  }
}

void container_witness::follow(const std::string& pod) {
  auto& one = pods_[pod];
  if (!one) one = std::make_unique<watched>(with_.loop);
  one->stream = with_.through.follow(
      pod_watch_request(with_.settings.kubernetes.pod_namespace, pod, watch_lasts),
      with_.loop.now() + patience,
      {.shows = [this, pod](const std::string& document) { shows(pod, document); },
       .ended = [this, pod](const api_failure& why) { broke(pod, why); }});
}

void container_witness::shows(const std::string& pod, std::string_view document) {
  watched& one = *pods_.at(pod);
  auto ends = read_ends(document, pod);
  if (!ends) return broke(pod, {.why = "what it shows cannot be used: " + ends.error()});
  one.failures = 0;
  one.ends = std::move(*ends);
  if (!std::exchange(one.is_known, true)) {
    for (auto& [_, all] : terms_) {
      for (term& its : all) {
        its.is_stale = its.is_stale || (its.its.identity == pod && end_of(its) != nullptr);
      }
    }
  }
  compare(pod);
}

void container_witness::broke(const std::string& pod, const api_failure& why) {
  watched& one = *pods_.at(pod);
  ++one.failures;
  // The server ends each watch some time.
  const bool is_trouble = one.failures > 1;
  if (is_trouble && !std::exchange(said_blind_, true)) {
    say_witness_blind(with_.to, with_.settings.identity, pod, why,
                      witness_right(with_.settings.kubernetes));
  }
  one.stream.reset();
  one.reopening.after(pauses.after(one.failures, with_.loop.random_bits()),
                      [this, pod] { follow(pod); });
}

/// Null if its container is not shown to have ended.
const container_end* container_witness::end_of(const term& what) const {
  const auto pod = pods_.find(what.its.identity);
  if (pod == pods_.end() || what.last_words.empty()) return nullptr;
  const std::vector<container_end>& ends = pod->second->ends;
  const auto found = std::ranges::find_if(ends, [&](const container_end& one) {
    return one.last_words == what.last_words && was_seen(one);
  });
  return found == ends.end() ? nullptr : &*found;
}

void container_witness::compare(const std::string& pod) {
  watched& one = *pods_.at(pod);
  one.telling.cancel();
  for (const auto& [which, all] : terms_) {
    for (const term& its : all) {
      const container_end* const end = its.is_stale ? nullptr : end_of(its);
      if (its.its.identity != pod || end == nullptr) continue;
      if (one.said.insert(its.last_words).second) {
        say_container_ended(with_.to,
                            {.election = with_.settings.elections[core::place(which)].name,
                             .identity = with_.settings.identity},
                            its.its, *end);
      }
      with_.ended(which, its.its);
      one.telling.after(tells_again_after, [this, pod] { compare(pod); });
    }
  }
}

void container_witness::close() {
  pods_.clear();
  terms_.clear();
}

}  // namespace tenure::kube
