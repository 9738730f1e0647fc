#include <algorithm>

#include "config/values.hpp"
#include "settings/endpoint.hpp"

namespace tenure::config {
namespace {

constexpr std::uint16_t http_port = 80;
constexpr const char* url_hint = "write it like http://127.0.0.1:8080/path";
constexpr const char* command_hint = "give a program and its arguments, such as pg_isready -q";

}  // namespace

parsed<std::string> parse_http_url(std::string_view text) {
  if (text.empty()) return wrong("is empty", url_hint);
  if (text.size() > max_endpoint_bytes) {
    return wrong("is " + std::to_string(text.size()) + " bytes long",
                 "give no more than " + std::to_string(max_endpoint_bytes));
  }
  const std::string shown = settings::quote_endpoint(text);
  if (settings::has_user(text)) {
    return wrong("is " + shown + ", with a user or a password in it",
                 "take it out; what has to sign in can be a command instead");
  }
  if (text.contains('#') || !std::ranges::all_of(text, is_visible)) {
    return wrong("is " + shown + ", with a fragment, a blank or a character outside ASCII in it",
                 url_hint);
  }
  const parsed<settings::endpoint> url =
      settings::parse_endpoint(text.substr(0, text.find('?')), http_port);
  if (!url) return wrong("is wrong: " + url.error().what, url_hint);
  if (url->tls) {
    return wrong("is " + shown + ", with TLS",
                 "give http://, which does not leave this machine, or use a command instead");
  }
  if (!settings::is_loopback(url->host)) {
    return wrong("is " + shown + ", which is not this machine",
                 "give localhost, 127.0.0.1 or [::1]: what fails elsewhere would take every member "
                 "down at once");
  }
  return std::string(text);
}

parsed<std::vector<std::string>> parse_command(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quoted_by = '\0';
  for (const char c : text) {
    if (quoted_by == '\0' && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (quoted_by == '\0' && (c == '"' || c == '\'')) {
      quoted_by = c;
    } else if (c == quoted_by) {
      quoted_by = '\0';
    } else {
      words.back() += c;
    }
  }
  if (quoted_by != '\0') {
    return wrong("is " + quote(text) + ", with a quote that is not closed",
                 "close it, or give a list of words in the file");
  }
  if (std::optional<mistake> why = command_mistake(words)) return std::unexpected(std::move(*why));
  return words;
}

std::optional<mistake> command_mistake(const std::vector<std::string>& words) {
  if (words.empty() || words.front().empty()) {
    return mistake{"names no program", command_hint};
  }
  if (words.size() > max_command_words) {
    return mistake{
        "has " + std::to_string(words.size()) + " words",
        "give no more than " + std::to_string(max_command_words) + ", or put them into a script"};
  }
  std::size_t bytes = 0;
  for (const std::string& word : words) {
    bytes += word.size();
    if (!std::ranges::any_of(word, is_control)) continue;
    return mistake{"has a control character in " + quote(word),
                   "take it out, or put the command into a script"};
  }
  if (bytes <= max_command_bytes) return std::nullopt;
  return mistake{
      "is " + std::to_string(bytes) + " bytes long",
      "give no more than " + std::to_string(max_command_bytes) + ", or put it into a script"};
}

}  // namespace tenure::config
