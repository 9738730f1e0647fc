#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/number_text.hpp"
#include "stores/malformed.hpp"

/// JSON to and from a server. Replies are read strictly: a wrong type or a contradiction makes one
/// malformed, which for a lease means that its state is unknown. Pure.
namespace tenure::stores {

/// The text of a request's body. Bytes that are not UTF-8, e.g. in a password, become replacement
/// characters, and the server refuses them.
std::string written(const nlohmann::ordered_json& body);

/// `why`, and the beginning of the body, safe to log.
malformed malformed_body(std::string why, std::string_view body);

/// The document. Malformed if it is nested too deeply, or has two values under one name: parsers
/// differ in which they choose.
parsed<nlohmann::json> read_document(std::string_view body);

/// The same, of a JSON object.
parsed<nlohmann::json> read_object(std::string_view body);

/// The first defect found in a reply. Later ones follow from it.
struct verdict {
  std::string why;

  void refuse(std::string_view field, std::string_view reason) {
    if (why.empty()) why = std::string(field).append(" ").append(reason);
  }
};

/// `reply`, unless a defect was found in `body`, from which it was read.
template <class Reply>
parsed<Reply> unless_refused(Reply reply, verdict& judged, std::string_view body) {
  if (judged.why.empty()) return reply;
  return std::unexpected(malformed_body(std::move(judged.why), body));
}

/// Reads the fields of one object. An absent field, or one that is null, reads as zero, false or
/// empty, as in proto3; one of another type is noted in the verdict and reads as absent.
class fields {
 public:
  /// Both must outlive it.
  fields(const nlohmann::json& object, verdict& judged);

  /// nullptr if absent. Also looks for protobuf's other spelling of the name, `createRevision` for
  /// `create_revision`; there must not be both.
  [[nodiscard]] const nlohmann::json* find(std::string_view name) const;

  /// 64 bits, as a string or, as proto3 also allows, a number.
  template <class Integer>
  [[nodiscard]] Integer number(std::string_view name) const {
    const std::optional<std::string> digits = digits_of(name);
    if (!digits) return 0;
    const auto value = base::read_number<Integer>(*digits);
    if (!value) judged_->refuse(name, "is not a number of its kind");
    return value.value_or(0);
  }

  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;
  /// What base64 stands for.
  [[nodiscard]] std::string bytes(std::string_view name) const;
  /// The elements of an array.
  [[nodiscard]] const nlohmann::json& list(std::string_view name) const;
  /// A text of printable ASCII, or nothing. It may go into a line of ours: a line break in a header
  /// would add another one.
  [[nodiscard]] std::string ascii(std::string_view name) const;

  /// An object, which must be there.
  fields object(std::string_view name) const;

  void require(bool holds, std::string_view name, std::string_view reason) const {
    if (!holds) judged_->refuse(name, reason);
  }

  [[nodiscard]] verdict& judged() const { return *judged_; }

 private:
  /// Nothing if absent; empty if it is neither a text nor an integer.
  [[nodiscard]] std::optional<std::string> digits_of(std::string_view name) const;
  [[nodiscard]] const nlohmann::json* look_up(const std::string& name) const;

  const nlohmann::json* object_;
  verdict* judged_;
};

}  // namespace tenure::stores
