#include "wire/json_codec.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_nesting.hpp"
#include "base/number_text.hpp"
#include "base/printable_text.hpp"
#include "base/time_text.hpp"

namespace tenure::wire {

using nlohmann::json;

json parsed(std::string_view body) {
  if (base::nests_deeper(body)) return {};
  json out = json::parse(body, nullptr, /*allow_exceptions=*/false);
  return out.is_discarded() ? json() : out;
}

const json& member(const json& from, std::string_view name) {
  static const json none;
  if (!from.is_object()) return none;
  const auto found = from.find(name);
  return found == from.end() ? none : *found;
}

std::string text_in(const json& from, std::string_view name) {
  std::string out;
  read(member(from, name), out);
  return out;
}

/// Characters that JSON shows as they are.
static constexpr std::array<bool, 256> plain = [] {
  std::array<bool, 256> out{};
  std::fill(out.begin() + ' ', out.begin() + '~' + 1, true);
  out['"'] = out['\\'] = false;
  return out;
}();

void append_text(std::string& to, std::string_view text) {
  const auto as_it_is = [](char c) { return plain[static_cast<unsigned char>(c)]; };
  if (std::ranges::all_of(text, as_it_is)) {
    to.append("\"").append(text).append("\"");
  } else {
    to += json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  }
}

void append_time(std::string& to, std::optional<std::int64_t> unix_ms) {
  unix_ms ? append_text(to, base::time_text(*unix_ms).date_and_time()) : void(to += "null");
}

bool read(const json& from, std::string& to) {
  if (from.is_string()) to = base::printable(from.get_ref<const std::string&>());
  return from.is_string();
}

bool read(const json& from, bool& to) {
  if (from.is_boolean()) to = from.get<bool>();
  return from.is_boolean();
}

bool read(const json& from, std::int32_t& to) {
  const bool fits =
      from.is_number_unsigned()
          ? std::in_range<std::int32_t>(from.get<std::uint64_t>())
          : from.is_number_integer() && std::in_range<std::int32_t>(from.get<std::int64_t>());
  if (fits) to = from.get<std::int32_t>();
  return fits;
}

bool read(const json& from, std::int64_t& to) {
  if (from.is_number_integer()) to = from.get<std::int64_t>();
  return from.is_number_integer();
}

bool read(const json& from, std::uint64_t& to) {
  if (from.is_number_integer()) to = from.get<std::uint64_t>();
  return from.is_number_integer();
}

bool read(const json& from, std::uint32_t& to) {
  const bool fits = from.is_number_unsigned() &&
                    from.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
  if (fits) to = from.get<std::uint32_t>();
  return fits;
}

bool read(const json& from, core::version& to) {
  std::uint64_t number = 0;
  const bool there = read(from, number);
  if (there) to = core::version{number};
  return there;
}

bool read(const json& from, core::health& to) {
  if (from.is_string()) to = core::health_named(from.get_ref<const std::string&>());
  return from.is_string();
}

bool read_time(const json& from, std::int64_t& to_unix_ms) {
  std::string text;
  const auto unix_ms = read(from, text) ? base::read_time(text) : std::nullopt;
  if (unix_ms) to_unix_ms = *unix_ms;
  return unix_ms.has_value();
}

bool is_json_object(const json& what) {
  return what.is_object();
}

std::optional<std::vector<const json*>> elements(const json& of) {
  if (!of.is_array()) return std::nullopt;
  std::vector<const json*> out;
  for (const json& one : of) out.push_back(&one);
  return out;
}

std::string& object_writer::named(std::string_view name) {
  to_ += before_;
  to_ += '"';
  to_.append(name).append("\":");
  before_ = ',';
  return to_;
}

void object_writer::version(std::optional<core::version> version) {
  if (version == core::no_version) version.reset();
  (*this)("version", version);
  std::optional<std::string> text;
  if (version) text = std::to_string(core::number(*version));
  (*this)("version_text", text);
}

void object_writer::holder(const std::optional<core::holder>& who) {
  (*this)("holder", who ? std::optional(who->identity) : std::nullopt);
  version(who ? std::optional(who->version) : std::nullopt);
}

void object_writer::slot(const std::optional<core::holder>& who) {
  (*this)("slot", who ? std::optional(who->slot) : std::nullopt);
}

void object_reader::time(std::string_view name, std::optional<std::int64_t>& unix_ms) {
  std::int64_t value = 0;
  if (read_time(member(from_, name), value)) unix_ms = value;
}

void object_reader::version(core::version& version) {
  const auto number = base::read_number<std::uint64_t>(text_in(from_, "version_text"));
  if (number) version = core::version{*number};
}

void object_reader::holder(core::holder& who) {
  (*this)("holder", who.identity);
  (*this)("version", who.version);
}

void object_reader::holder(std::optional<core::holder>& who) {
  if (member(from_, "holder").is_string()) holder(who.emplace());
}

void object_reader::slot(std::optional<core::holder>& who) {
  if (who) (*this)("slot", who->slot);
}

}  // namespace tenure::wire
