#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/malformed.hpp"

namespace tenure::stores {

/// Splits a stream into JSON objects. Its pieces may break anywhere: inside an object or between
/// two, with white space around them. Looks only at braces and quotes; the parse_* functions judge
/// the contents.
class document_splitter {
 public:
  /// The longest object accepted. What concerns us has a few hundred bytes; etcd bundles the events
  /// of a busy prefix that others write to.
  static constexpr std::size_t max_document_bytes = 4 * 1024 * 1024;

  /// More than any reply of a store needs.
  static constexpr int max_nesting = 16;

  explicit document_splitter(int most_levels = max_nesting) : most_levels_(most_levels) {}

  /// Returns the objects that this piece completes, in order. After an error the stream's position
  /// is lost: every later call returns the same error.
  [[nodiscard]] std::expected<std::vector<std::string>, malformed> feed(std::string_view piece);

  /// True if no object is incomplete: the stream may end here.
  [[nodiscard]] bool between_documents() const { return nesting_ == 0 && !failed_; }

 private:
  enum class state { outside, in_object, in_string, after_backslash };

  /// Advances by one byte; returns why it cannot.
  std::optional<std::string> step(char c);

  int most_levels_;
  state state_ = state::outside;
  int nesting_ = 0;
  std::string begun_;
  std::optional<malformed> failed_;
};

}  // namespace tenure::stores
