#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"

namespace tenure::sim {

inline constexpr std::size_t max_pods = 5;
inline constexpr std::size_t max_elections = 4;
inline constexpr std::size_t max_slots = 3;

/// What travels between agents and the store.
enum class mail : std::uint8_t {
  acquire,
  read,  ///< of a record, before a try to take it over
  renew,
  ask_own,  ///< which term the session holds, before a release that names none
  release,
  open_watch,
  say,  ///< of oneself, for the list of members; there is no answer
  granted,
  refused,
  record,  ///< the answer to `read`
  renewed,
  own,  ///< the answer to `ask_own`
  released,
  shown,   ///< an element of a watch stream
  failed,  ///< made by the network: the request of kind `was` ended unknown
};

struct held {
  std::uint16_t identity = 0;
  core::version version = core::no_version;
};

/// A member in the list of an election.
struct listed {
  std::uint16_t identity = 0;
  bool is_there = false;
  core::readiness says{};
};

struct renewal_entry {
  core::version version = core::no_version;
  std::uint8_t election = 0;
  bool lost = false;
  core::loss_reason why = core::loss_reason::none;
  bool delayed = false;  ///< the store's lock-delay began when this term ended
};

/// One request, answer or stream element. One struct for all, so that they share a pool.
struct message {
  mail kind{};
  mail was{};
  std::uint8_t pod = 0;
  std::uint8_t election = 0;
  std::uint8_t count = 0;      ///< of `items` or `holders`
  bool clean = false;          ///< the previous holder released
  std::uint16_t identity = 0;  ///< of the session that asks
  std::uint32_t process = 0;   ///< of the agent that asks; its answers end with its connection
  std::uint32_t stream = 0;
  std::uint32_t store_life = 0;  ///< the store that it was sent to ends with its connections
  core::attempt number{};
  core::time_point sent_at{};  ///< on the clock of the agent that asks
  core::version version = core::no_version;
  core::version above = core::no_version;
  core::version as_of = core::no_version;
  std::uint64_t mark = 0;  ///< of a record: differs for every write
  core::duration ttl{};
  core::duration retry_in = core::duration::max();  ///< by the store's word; `max`: it does not say
  std::array<renewal_entry, max_elections> items{};
  std::array<held, max_slots> holders{};
  std::array<listed, max_pods> members{};  ///< of `say`: the first one
};

using message_id = std::uint32_t;

/// Messages under way. Reuses its memory, so that a long run allocates nothing.
class message_pool {
 public:
  message_id add(const message& m) {
    if (free_.empty()) {
      all_.push_back(m);
      return static_cast<message_id>(all_.size() - 1);
    }
    const message_id id = free_.back();
    free_.pop_back();
    all_[id] = m;
    return id;
  }

  /// Removes it from the pool.
  message take(message_id id) {
    free_.push_back(id);
    return all_[id];
  }

  [[nodiscard]] const message& at(message_id id) const { return all_[id]; }

 private:
  std::vector<message> all_;
  std::vector<message_id> free_;
};

}  // namespace tenure::sim
