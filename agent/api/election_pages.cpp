#include "api/election_pages.hpp"

#include <algorithm>

#include "api/change.hpp"

namespace tenure::api {

const election_form& election_pages::of(const snapshot& seen, std::size_t place,
                                        const instant& at) {
  const election_snapshot& election = seen.elections[place];
  if (place >= most_kept || seen.agent.empty()) return other_ = form_of(election, seen, at);
  if (place >= kept_.size()) kept_.resize(place + 1);
  entry& kept = kept_[place];
  const std::uint64_t index = index_of(election, seen, at.now);
  if (kept.index != index || kept.agent != seen.agent) {
    kept = {.index = index, .agent = seen.agent, .form = form_of(election, seen, at)};
  }
  return kept.form;
}

}  // namespace tenure::api
