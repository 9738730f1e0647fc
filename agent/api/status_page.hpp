#pragma once

#include <string_view>

#include "http/http_message.hpp"

/// The status page: `GET /` for people. It only reads, through the API that programs use.
namespace tenure::api {

/// True if a browser asks for a page to display. Programs get JSON from `/`, even those that accept
/// anything, or that list text/html because their library does (Java's HttpURLConnection). A
/// browser lists text/html without a wildcard, or together with XHTML.
bool wants_page(const http::request& asked);

/// The page. It contains nothing of this agent, so it is always the same.
http::response status_page();

/// The page itself, a single self-contained file that the build assembles from page/.
extern const std::string_view status_page_text;
/// Its Content-Security-Policy: inline style and script are allowed by their hashes, and nothing
/// else.
extern const std::string_view status_page_policy;

}  // namespace tenure::api
