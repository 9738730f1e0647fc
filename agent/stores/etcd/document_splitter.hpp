#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/etcd/codec.hpp"

namespace tenure::stores::etcd {

/// Takes JSON objects off a stream whose pieces break anywhere: inside of one, between two, with
/// blanks and newlines around them. Looks at braces and quotes only; the parse_* functions judge
/// what is inside.
class document_splitter {
 public:
  /// One object may be so long. A reply of ours has a few hundred bytes; the events of a busy
  /// prefix that others write to come bundled.
  static constexpr std::size_t max_document_bytes = 4 * 1024 * 1024;

  /// Deeper than any of etcd's replies.
  static constexpr int max_nesting = 16;

  /// The objects that this piece completes, in order. After an error the stream has lost its
  /// place: every later call returns the same one.
  [[nodiscard]] std::expected<std::vector<std::string>, malformed> feed(std::string_view piece);

  /// Nothing has begun that is not complete: here a stream may end.
  [[nodiscard]] bool between_documents() const { return nesting_ == 0 && !failed_; }

 private:
  enum class state { outside, in_object, in_string, after_backslash };

  /// Advances over one byte; says why it cannot.
  std::optional<std::string> step(char c);

  state state_ = state::outside;
  int nesting_ = 0;
  std::string begun_;
  std::optional<malformed> failed_;
};

}  // namespace tenure::stores::etcd
