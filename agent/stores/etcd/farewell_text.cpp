#include "stores/etcd/farewell_text.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <vector>

namespace tenure::stores::etcd {
namespace {

constexpr std::string_view clean_word = "clean";
constexpr std::string_view unclean_word = "unclean";
constexpr std::size_t words_without_heir = 5;
constexpr std::size_t words_with_heir = 6;

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '/' || c == ':' || c == '@';
}

std::string encoded(std::string_view name) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    if (stays(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', digits[byte >> 4U], digits[byte & 15U]};
  }
  return out;
}

template <class Integer>
std::optional<Integer> number_in(std::string_view text, int base = 10) {
  Integer out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const auto byte = number_in<unsigned>(text.substr(i + 1, 2), 16);
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = text.find(' ');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string release_note_text(core::version term, const std::string& holder, const parting& how) {
  std::string out = std::to_string(core::number(term));
  out.append(" ").append(how.clean ? clean_word : unclean_word);
  out.append(" ").append(core::name(how.why));
  out.append(" ").append(std::to_string(how.at_unix_ms));
  out.append(" ").append(encoded(holder));
  if (!how.heir.empty()) out.append(" ").append(encoded(how.heir));
  return out;
}

std::optional<release_note> parse_release_note(std::string_view record) {
  const std::vector<std::string_view> words = words_of(record);
  const auto term = number_in<std::uint64_t>(words[0]);
  if (!term || *term == 0) return std::nullopt;
  release_note out{.said = {.term = core::version{*term}}, .clean = true};
  if (words.size() == 1) return out;
  if (words.size() != words_without_heir && words.size() != words_with_heir) return std::nullopt;
  if (words[1] != clean_word && words[1] != unclean_word) return std::nullopt;
  out.clean = words[1] == clean_word;
  out.said.why = core::loss_reason_named(words[2]).value_or(core::loss_reason::none);
  const auto at = number_in<std::int64_t>(words[3]);
  auto holder = decoded(words[4]);
  auto heir = decoded(words.size() == words_with_heir ? words[5] : "");
  if (!at || !holder || !heir) return std::nullopt;
  out.said.at_unix_ms = *at;
  out.said.holder = std::move(*holder);
  out.said.heir = std::move(*heir);
  return out;
}

}  // namespace tenure::stores::etcd
