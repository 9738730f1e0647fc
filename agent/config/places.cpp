#include "config/places.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "config/values.hpp"
#include "config/yaml.hpp"

namespace tenure::config {
namespace {

/// A string as YAML reads it back: plain where that is safe, else in quotes with escapes.
std::string scalar(std::string_view content) {
  constexpr std::string_view safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:-+";
  const bool plain = kind_of_plain(content) == yaml_kind::text &&
                     content.find_first_not_of(safe) == std::string_view::npos &&
                     !content.starts_with('-') && !content.starts_with(':') &&
                     !content.ends_with(':');
  if (plain) return std::string(content);
  std::string out = "\"";
  for (const char c : content) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// A string that has no default; empty if there is none.
std::string given(std::string_view content) {
  return content.empty() ? "" : scalar(content);
}

/// A query may hold a secret, so a placeholder is shown; `load` refuses the placeholder.
std::string url(const std::string& content) {
  const std::size_t query = content.find('?');
  return given(query == content.npos ? content : content.substr(0, query) + "?(query not shown)");
}

std::string percent(std::uint32_t parts_per_million) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%u.%04u", parts_per_million / 10'000,
                parts_per_million % 10'000);
  std::string text = out.data();
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

bool is_listed(const configuration& s) {
  return s.elections.size() != 1 || s.origin_of(setting::elections).from != source::fallback;
}

std::string list_of(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += "\n  - " + scalar(item);
  return out;
}

std::string list_of(const std::vector<settings::election>& items) {
  std::string out;
  for (const settings::election& e : items) {
    out += "\n  - {name: " + scalar(e.name) + ", slots: " + std::to_string(e.slots) + "}";
  }
  return out;
}

}  // namespace

namespace places {

void put(std::string& to, const field& /*f*/, const value& from) {
  to = std::get<std::string>(from);
}

void put(std::vector<std::string>& to, const field& /*f*/, const value& from) {
  to = std::get<std::vector<std::string>>(from);
}

void put(core::duration& to, const field& /*f*/, const value& from) {
  to = std::get<core::duration>(from);
}

void put(std::uint32_t& to, const field& /*f*/, const value& from) {
  to = static_cast<std::uint32_t>(std::get<std::int64_t>(from));
}

void put(bool& to, const field& /*f*/, const value& from) {
  to = std::get<bool>(from);
}

void put(settings::listener& to, const field& /*f*/, const value& from) {
  to.at = std::get<std::optional<settings::listen_address>>(from);
}

void put(int& to, const field& f, const value& from) {
  to = f.type == field_type::signal ? signal_number(std::get<std::string>(from))
                                    : static_cast<int>(std::get<std::int64_t>(from));
}

std::size_t place_of_word(const field& f, const value& from) {
  const auto found = std::ranges::find(f.words, std::get<std::string>(from));
  return static_cast<std::size_t>(found - f.words.begin());
}

std::string shown(const std::string& what, const field& f) {
  return f.type == field_type::http_url ? url(what) : given(what);
}

std::string shown(const std::vector<std::string>& what, const field& f) {
  const bool is_one = f.type == field_type::endpoints && what.size() == 1;
  return is_one ? scalar(what.front()) : list_of(what);
}

std::string shown(const core::duration& what, const field& /*f*/) {
  return core::text(what);
}

std::string shown(const std::uint32_t& what, const field& f) {
  return f.type == field_type::percent ? percent(what) : std::to_string(what);
}

std::string shown(const bool& what, const field& /*f*/) {
  return what ? "true" : "false";
}

std::string shown(const settings::listener& what, const field& /*f*/) {
  return scalar(text(what));
}

std::string shown(const int& what, const field& f) {
  if (f.type != field_type::signal) return std::to_string(what);
  return what == 0 ? "" : std::string(signal_name(what));
}

void put_nothing(configuration& /*to*/, const field& /*f*/, const value& /*from*/) {}

std::string shown_election(const configuration& s, const field& /*f*/) {
  return is_listed(s) ? "" : scalar(s.elections.front().name);
}

std::string shown_elections(const configuration& s, const field& /*f*/) {
  return is_listed(s) ? list_of(s.elections) : "";
}

}  // namespace places
}  // namespace tenure::config
