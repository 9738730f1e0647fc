#include "stores/document_splitter.hpp"

#include <utility>

namespace tenure::stores {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

std::optional<std::string> document_splitter::step(char c) {
  switch (state_) {
    case state::outside:
      if (is_blank(c)) return std::nullopt;
      if (c != '{') return "the stream has something other than JSON objects in it";
      state_ = state::in_object;
      nesting_ = 1;
      return std::nullopt;
    case state::in_object:
      if (c == '"') state_ = state::in_string;
      if (c == '{' || c == '[') ++nesting_;
      if (c == '}' || c == ']') --nesting_;
      if (nesting_ > most_levels_) return "an object in the stream is nested too deeply";
      if (nesting_ == 0) state_ = state::outside;
      return std::nullopt;
    case state::in_string:
      if (c == '"') state_ = state::in_object;
      if (c == '\\') state_ = state::after_backslash;
      return std::nullopt;
    case state::after_backslash:
      state_ = state::in_string;
      return std::nullopt;
  }
  std::unreachable();
}

std::expected<std::vector<std::string>, malformed> document_splitter::feed(std::string_view piece) {
  if (failed_) return std::unexpected(*failed_);
  std::vector<std::string> complete;
  for (const char c : piece) {
    const bool was_inside = state_ != state::outside;
    auto wrong = step(c);
    const bool is_inside = state_ != state::outside;
    if (was_inside || is_inside) begun_ += c;
    if (begun_.size() > max_document_bytes) wrong = "an object in the stream is too long";
    if (wrong) {
      failed_ = malformed{*std::move(wrong)};
      begun_.clear();
      return std::unexpected(*failed_);
    }
    if (was_inside && !is_inside) complete.push_back(std::exchange(begun_, {}));
  }
  return complete;
}

}  // namespace tenure::stores
