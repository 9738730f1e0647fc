#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/vocabulary.hpp"
#include "modelled_etcd.hpp"

namespace tenure::shell {

/// What must never happen. Each is a sentence of docs/safety.md, as far as a store's client can
/// break it.
enum class rule : std::uint8_t {
  none,
  too_many_running,         ///< two workloads of one election run, and nobody took the key away
  version_not_larger,       ///< a workload starts under no larger version than one before
  believed_what_is_not,     ///< a grant of a key that was never written, or is another's
  believed_what_was_gone,   ///< the key was gone before the request left that is believed
  believed_beyond_promise,  ///< the leader has not promised to keep the lease for so long
  clean_without_release,    ///< "the one before has released": it has not
  released_while_running,   ///< a lease is given up while its workload may run
  released_in_use,          ///< a key goes whose term its agent has entered and not left
  shows_what_is_not,        ///< a watch that works shows other holders than there are
  no_holder,                ///< all is well again, and nobody is active
  busy_loop,
};

const char* name(rule r);

/// Compares what members do with what is true. The first broken rule is kept.
class judge final : public etcd_witness {
 public:
  /// `traced`: what happens is printed.
  judge(world& in, bool traced) : world_(in), traced_(traced) {}

  // What is true of the store.
  void created(const std::string& key, std::uint64_t revision, std::int64_t lease) override;
  void erased(const std::string& key, std::uint64_t create_revision, erased_by how) override;

  // What members do. `which`: their election.
  /// A grant or a renewal is believed, for `ttl` from `sent_at`.
  void believes(std::size_t pod, const std::string& which, std::uint64_t version,
                world_time sent_at, core::duration ttl, const modelled_etcd& of);
  void believes_clean(std::size_t pod, const std::string& which, std::uint64_t version);
  /// It gives up its term, and says that all that ran under it is dead, and that it need not be
  /// waited for.
  void says_clean(std::uint64_t version) { terms_[version].clean = true; }
  void enters(std::size_t pod, std::uint64_t version) {
    terms_[version].entered_by = static_cast<int>(pod);
  }
  void leaves(std::uint64_t version) { terms_[version].entered_by = -1; }
  void starts(std::size_t pod, const std::string& which, std::uint64_t version);
  void ends(std::size_t pod, const std::string& which);

  void broke(rule what, const std::string& details);
  [[nodiscard]] rule broken() const { return broken_; }
  [[nodiscard]] const std::string& details() const { return details_; }
  [[nodiscard]] std::size_t running(const std::string& which) const;
  [[nodiscard]] std::uint64_t terms_entered() const { return entered_; }

 private:
  struct term {
    std::string which;
    std::int64_t lease = 0;
    world_time erased_at = sim::world_never;
    erased_by how{};
    bool alive = false;  ///< its workload
    bool clean = false;  ///< so it was said
    int entered_by = -1;
  };
  struct running_one {
    std::size_t pod;
    std::uint64_t version;
  };

  void say(const std::string& what) const;

  world& world_;
  bool traced_;
  rule broken_ = rule::none;
  std::string details_;
  std::map<std::uint64_t, term> terms_;
  std::map<std::string, std::vector<running_one>> running_;
  std::map<std::string, std::uint64_t> highest_;
  std::uint64_t entered_ = 0;
};

}  // namespace tenure::shell
