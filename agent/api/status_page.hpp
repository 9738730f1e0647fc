#pragma once

#include <string_view>

#include "http/http_message.hpp"

/// The status page: `GET /` for people. It only reads, through the API that programs use.
namespace tenure::api {

/// True if a browser asks for a page to show. Programs get JSON from `/`, also those that accept
/// anything, or that list text/html because their library does (Java's HttpURLConnection): only
/// text/html without a wildcard beside it, or with XHTML as browsers have it, is a browser.
bool wants_page(const http::request& asked);

/// The page. Nothing of this agent is in it, so that it is the same at any time.
http::response status_page();

/// The page itself, one file without any other that it needs; put together from page/ by the build.
extern const std::string_view status_page_text;
/// Its Content-Security-Policy: what is inline runs by its hash, and nothing else does.
extern const std::string_view status_page_policy;

}  // namespace tenure::api
