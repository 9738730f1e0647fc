#include "api/status_page.hpp"

#include <algorithm>
#include <ranges>
#include <string>

#include "http/header_text.hpp"

namespace tenure::api {
namespace {

using http::same_word;
using http::trimmed;

/// "text/html;q=0" lists the type in order to refuse it.
bool is_refused(std::string_view parameters) {
  for (const auto part : parameters | std::views::split(';')) {
    const std::string_view one = trimmed(std::string_view(part.begin(), part.end()));
    if (one.size() > 2 && same_word(one.substr(0, 2), "q=")) {
      return one.substr(2).find_first_not_of("0.") == std::string_view::npos;
    }
  }
  return false;
}

bool lists(std::string_view accept, std::string_view type) {
  return std::ranges::any_of(accept | std::views::split(','), [&](const auto part) {
    const std::string_view range(part.begin(), part.end());
    const std::size_t end = std::min(range.find(';'), range.size());
    return same_word(trimmed(range.substr(0, end)), type) && !is_refused(range.substr(end));
  });
}

}  // namespace

bool wants_page(const http::request& asked) {
  if (!asked.accept || !lists(*asked.accept, "text/html")) return false;
  if (lists(*asked.accept, "application/xhtml+xml")) return true;
  return !lists(*asked.accept, "*/*") && !lists(*asked.accept, "application/json");
}

http::response status_page() {
  return {.status = 200,
          .content_type = "text/html; charset=utf-8",
          .body = std::string(status_page_text),
          .headers = {{.name = "Vary", .value = "Accept"},
                      {.name = "Cache-Control", .value = "no-store"},
                      {.name = "Content-Security-Policy", .value = std::string(status_page_policy)},
                      {.name = "Referrer-Policy", .value = "no-referrer"},
                      {.name = "X-Content-Type-Options", .value = "nosniff"},
                      {.name = "Cross-Origin-Resource-Policy", .value = "same-origin"}}};
}

}  // namespace tenure::api
