#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/vocabulary.hpp"
#include "core/word.hpp"
#include "stores/etcd/line.hpp"
#include "stores/etcd/session.hpp"

namespace tenure::stores::etcd {

/// The word of decision 43: a holder whose term is over tells the member whose place is the next
/// one, and sends its release at the same time. That member begins at whichever comes first.
///
/// Why that is safe: in the queue no key can come between two that are there. So once the holder's
/// key is deleted or has run out, the lease is granted to the place behind it, and until then to
/// nobody. The holder alone can sign by the key beside its own, and it signs when nothing of its
/// term runs any more: for one term, and for the one place behind it.
///
/// Used on the session's loop only.
class words {
 public:
  words(session& of, const line& places);

  /// The mirror of this election has changed. Signs the word for the next one, if there is another
  /// one now, so that a release does not wait for that.
  void changed(core::election_index which);

  /// Call when a term of ours is about to be released. Tells the next one, if the term was ended
  /// cleanly and there is one that can be told. Returns the place that was told of this term, now
  /// or when it was about to be released for the first time; `no_version`: none.
  core::version tell(core::election_index which, const held_term& own, const release_details& how);

  /// Somebody says that a term is over. Returns the election in which our place has become a term
  /// with that; nothing if it has not.
  std::optional<core::election_index> hear(const core::word& what);

 private:
  /// What was done when a term was about to be released for the first time. Afterwards a release
  /// that may still be carried out can contradict a word.
  struct release {
    core::version of = core::no_version;
    core::version told = core::no_version;
  };

  /// A word, and to whom it is to be told.
  struct letter {
    core::word what;
    std::string identity;
    std::string address;
  };

  struct signed_word {
    std::int64_t lease = 0;  ///< that of the term
    core::word what;         ///< without a signature: none was signed
  };

  /// For the member that is next behind this term of ours, not signed yet; nothing: nobody is, or
  /// can be told.
  [[nodiscard]] std::optional<letter> letter_for_next(core::election_index which,
                                                      const held_term& own) const;
  void sign(core::election_index which, const held_term& own, core::word& what);
  core::version tell_next(core::election_index which, const held_term& own,
                          const release_details& how);

  session& session_;
  const line& line_;
  std::vector<release> releases_;    ///< the last one, by election
  std::vector<signed_word> signed_;  ///< the same
};

}  // namespace tenure::stores::etcd
