#include "stores/sent_secrets.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/percent_text.hpp"
#include "base/printable_text.hpp"

namespace tenure::stores {
namespace {

/// A token that lasts for five minutes is replaced while an answer may be under way; a file may be
/// written twice in that time.
constexpr std::size_t most_remembered = 8;
constexpr std::string_view shown = "***";
constexpr std::string_view cut_mark = "...";
/// A shorter beginning says nothing.
constexpr std::size_t least_beginning = 4;
/// A shorter secret may be part of any word, and is hidden only where it is a word by itself.
constexpr std::size_t least_anywhere = 8;

bool is_of_a_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_a_word(std::string_view text, std::size_t at, std::size_t size) {
  const bool begins = at == 0 || !is_of_a_word(text[at - 1]);
  return begins && (at + size == text.size() || !is_of_a_word(text[at + size]));
}

void replace_all(std::string& text, std::string_view form) {
  for (auto at = text.find(form); at != std::string::npos; at = text.find(form, at)) {
    if (form.size() < least_anywhere && !is_a_word(text, at, form.size())) {
      ++at;
      continue;
    }
    text.replace(at, form.size(), shown);
    at += shown.size();
  }
}

/// Where the text was cut inside of the secret.
void replace_beginnings(std::string& text, std::string_view form) {
  for (auto at = text.find(cut_mark); at != std::string::npos; at = text.find(cut_mark, at + 1)) {
    for (std::size_t size = std::min(form.size() - 1, at); size >= least_beginning; --size) {
      if (!std::string_view(text).substr(0, at).ends_with(form.substr(0, size))) continue;
      text.replace(at - size, size, shown);
      at = at - size + shown.size();
      break;
    }
  }
}

}  // namespace

void sent_secrets::add(std::string_view secret) {
  if (secret.empty() || (!all_.empty() && all_.front().secret == secret)) return;
  std::erase_if(all_, [&](const hidden& one) { return one.secret == secret; });
  hidden next{.secret = std::string(secret), .forms = {}};
  for (const std::string& form :
       {next.secret, base::escaped(next.secret, "\"\\"), base::to_base64(next.secret),
        base::percent_encoded(next.secret)}) {
    next.forms.push_back(base::printable(form));
  }
  // A form that is part of another one must not be hidden first.
  std::ranges::sort(next.forms, std::ranges::greater(), &std::string::size);
  all_.push_front(std::move(next));
  if (all_.size() > most_remembered) all_.pop_back();
}

std::string sent_secrets::hide(std::string text) const {
  for (const hidden& one : all_) {
    for (const std::string& form : one.forms) replace_all(text, form);
    for (const std::string& form : one.forms) replace_beginnings(text, form);
  }
  return text;
}

}  // namespace tenure::stores
