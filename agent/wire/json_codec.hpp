#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/health.hpp"
#include "core/vocabulary.hpp"

/// The tools with which the codecs of this room write and read JSON.
///
/// An object is described once, by a function `describe(of, with)` that names its members in order.
/// `with` is an object_writer, which writes each member, or an object_reader, which sets it. So the
/// two directions cannot differ.
namespace tenure::wire {

/// JSON as a tree; null if `body` is not JSON, or nests deeper than base::most_json_levels.
nlohmann::json parsed(std::string_view body);

/// The member of that name; null if there is none, or if `from` is not an object.
const nlohmann::json& member(const nlohmann::json& from, std::string_view name);

/// The text member of that name; empty if there is none.
std::string text_in(const nlohmann::json& from, std::string_view name);

/// A text as JSON. Bytes that are not UTF-8 become U+FFFD, so that every answer can be parsed.
void append_text(std::string& to, std::string_view text);
/// RFC 3339, or null.
void append_time(std::string& to, std::optional<std::int64_t> unix_ms);

// These return false, and leave `to` unchanged, if the type is not the expected one.

/// Makes text printable: no text in an agent's answer can control a terminal, or
/// make one line look like two.
bool read(const nlohmann::json& from, std::string& to);
bool read(const nlohmann::json& from, bool& to);
bool read(const nlohmann::json& from, std::int32_t& to);
bool read(const nlohmann::json& from, std::int64_t& to);
bool read(const nlohmann::json& from, std::uint64_t& to);
bool read(const nlohmann::json& from, std::uint32_t& to);
bool read(const nlohmann::json& from, core::version& to);
bool read(const nlohmann::json& from, core::health& to);
/// RFC 3339.
bool read_time(const nlohmann::json& from, std::int64_t& to_unix_ms);
bool is_json_object(const nlohmann::json& what);
/// Nothing if `of` is not an array.
std::optional<std::vector<const nlohmann::json*>> elements(const nlohmann::json& of);

template <class Value>
bool read(const nlohmann::json& from, std::optional<Value>& to);
template <class Value>
bool read(const nlohmann::json& from, std::vector<Value>& to);
template <class Object>
bool read(const nlohmann::json& from, Object& to);
template <class Value>
void append(std::string& to, const Value& value);

/// Writes one object at the end of a text.
class object_writer {
 public:
  explicit object_writer(std::string& to) : to_(to) {}

  void operator()(std::string_view name, const auto& value) { append(named(name), value); }
  /// Writes null for an empty text.
  void or_null(std::string_view name, const std::string& text) {
    text.empty() ? void(named(name) += "null") : append_text(named(name), text);
  }
  /// Omits the member if there is no value.
  void if_any(std::string_view name, const auto& value) {
    if (value != std::remove_cvref_t<decltype(value)>()) (*this)(name, value);
  }
  /// RFC 3339, or null.
  void time(std::string_view name, std::optional<std::int64_t> unix_ms) {
    append_time(named(name), unix_ms);
  }
  /// Writes null for 0, which means unknown.
  void time(std::string_view name, std::int64_t unix_ms) {
    time(name, unix_ms == 0 ? std::nullopt : std::optional(unix_ms));
  }
  /// "version" as a number, and "version_text" with the same digits for readers whose numbers are
  /// doubles (JavaScript, jq), which are exact only up to 2^53. Both are null if there is none.
  void version(std::optional<core::version> version);
  /// "holder", "version" and "version_text".
  void holder(const std::optional<core::holder>& who);
  /// "slot": the holder's.
  void slot(const std::optional<core::holder>& who);
  /// Call once, after the last member.
  void end() { to_ += before_ == '{' ? "{}" : "}"; }

 private:
  /// Writes the name, which is printable ASCII without quotes; the caller appends the value.
  std::string& named(std::string_view name);

  std::string& to_;
  char before_ = '{';
};

/// Sets the members of an object. A member that is missing or of another type keeps its value.
class object_reader {
 public:
  explicit object_reader(const nlohmann::json& from) : from_(from) {}

  void operator()(std::string_view name, auto& value) { read(member(from_, name), value); }
  void or_null(std::string_view name, std::string& text) { (*this)(name, text); }
  void if_any(std::string_view name, auto& value) { (*this)(name, value); }
  void time(std::string_view name, std::int64_t& unix_ms) {
    read_time(member(from_, name), unix_ms);
  }
  void time(std::string_view name, std::optional<std::int64_t>& unix_ms);
  /// Reads "version_text".
  void version(core::version& version);
  void holder(core::holder& who);
  /// Nothing if "holder" is not a string.
  void holder(std::optional<core::holder>& who);
  /// Precondition: `holder` has been read.
  void slot(std::optional<core::holder>& who);

 private:
  const nlohmann::json& from_;
};

/// T or const T: a writer describes const values.
template <class Value, class Of>
concept maybe_const = std::same_as<std::remove_const_t<Value>, Of>;

/// {"identity","version","slot"}
void describe(maybe_const<core::holder> auto& of, auto& with) {
  with("identity", of.identity);
  with("version", of.version);
  with("slot", of.slot);
}

template <class Value>
bool read(const nlohmann::json& from, std::optional<Value>& to) {
  Value value{};
  const bool there = read(from, value);
  if (there) to = std::move(value);
  return there;
}

template <class Value>
bool read(const nlohmann::json& from, std::vector<Value>& to) {
  const auto all = elements(from);
  if (!all) return false;
  for (const nlohmann::json* const one : *all) read(*one, to.emplace_back());
  return true;
}

template <class Object>
bool read(const nlohmann::json& from, Object& to) {
  if (!is_json_object(from)) return false;
  object_reader with(from);
  describe(to, with);
  return true;
}

template <class Value>
void append(std::string& to, const Value& value) {
  if constexpr (std::convertible_to<const Value&, std::string_view>) {
    append_text(to, value);
  } else if constexpr (std::same_as<Value, bool>) {
    to += value ? "true" : "false";
  } else if constexpr (std::same_as<Value, core::health>) {
    append_text(to, core::name(value));
  } else if constexpr (std::same_as<Value, core::version>) {
    to += std::to_string(core::number(value));
  } else if constexpr (std::integral<Value>) {
    to += std::to_string(value);
  } else if constexpr (requires { value.has_value(); }) {
    value ? append(to, *value) : void(to += "null");
  } else if constexpr (requires { value.begin(); }) {
    const char* before = "[";
    for (const auto& one : value) append(to += std::exchange(before, ","), one);
    to += value.empty() ? "[]" : "]";
  } else {
    object_writer with(to);
    describe(value, with);
    with.end();
  }
}

}  // namespace tenure::wire
