#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::stores {

/// The passwords and tokens that a store has sent. A server, or something in front of it, may
/// answer with all that it was sent, and what it answered is shown: in the log, by `status`, and by
/// an API that asks nobody who he is.
///
/// Every store adds what it sends; `make_printable_store` hides it in all that a store says.
///
/// Not thread-safe: used on the store's loop only.
class sent_secrets {
 public:
  /// Call before a secret is sent. The last few are remembered, as an answer may quote an earlier
  /// one.
  void add(std::string_view secret);

  /// `text` with "***" for each secret in it, also in the forms in which a page or a body of JSON
  /// repeats it, and where a cut ("...", see base::printable) has left only its beginning. One that
  /// is as short as a word stays where it is part of a longer one.
  [[nodiscard]] std::string hide(std::string text) const;

 private:
  struct hidden {
    std::string secret;
    std::vector<std::string> forms;  ///< the longest first
  };
  std::deque<hidden> all_;  ///< the newest first
};

}  // namespace tenure::stores
