#include "api/snapshot.hpp"

#include <algorithm>
#include <utility>

#include "core/check.hpp"

namespace tenure::api {
namespace {

/// Small enough to copy in microseconds; large enough that some hundred pointers share a table of
/// ten thousand.
constexpr std::size_t block_size = 64;

}  // namespace

election_table election_table::share() {
  for (block& b : blocks_) b.shared = true;
  election_table out;
  out.blocks_ = blocks_;
  return out;
}

void election_table::push_back(election_snapshot one) {
  if (size() % block_size == 0) {
    blocks_.push_back({.elections = std::make_shared<std::vector<election_snapshot>>()});
  }
  TENURE_CHECK(!blocks_.back().shared);
  blocks_.back().elections->push_back(std::move(one));
}

std::size_t election_table::size() const {
  if (blocks_.empty()) return 0;
  return (blocks_.size() - 1) * block_size + blocks_.back().elections->size();
}

const election_snapshot& election_table::operator[](std::size_t place) const {
  return (*blocks_[place / block_size].elections)[place % block_size];
}

election_snapshot& election_table::edit(std::size_t place) {
  block& of = blocks_[place / block_size];
  if (std::exchange(of.shared, false)) {
    of.elections = std::make_shared<std::vector<election_snapshot>>(*of.elections);
  }
  return (*of.elections)[place % block_size];
}

std::optional<std::size_t> election_table::find(std::string_view name) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const auto& some = *blocks_[b].elections;
    const auto found = std::ranges::find(some, name, &election_snapshot::name);
    if (found != some.end()) {
      return b * block_size + static_cast<std::size_t>(found - some.begin());
    }
  }
  return std::nullopt;
}

snapshot snapshot::share() {
  return {.index = index,
          .agent = agent,
          .identity = identity,
          .started_unix_ms = started_unix_ms,
          .store = store,
          .cluster_id = cluster_id,
          .contact = contact,
          .store_opened = store_opened,
          .stopping = stopping,
          .guard_alive = guard_alive,
          .health = health,
          .elections = elections.share()};
}

}  // namespace tenure::api
