#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "api/control.hpp"
#include "http/http_message.hpp"

namespace tenure::api {

/// The order in a body: `{"to":NAME,"aside":DURATION,"member":NAME}` as far as `what` takes them;
/// an empty body is `{}`. `set` takes
/// `{"slots":N,"accept_versions":true}`, one of them or both. The error is one sentence. What is
/// unknown is refused: a misspelt `to` would otherwise let anybody take over.
std::expected<core::order, std::string> parse_order(core::order_action what, std::string_view body);

http::response accepted_response(const std::string& election, const core::order& what,
                                 const control_acceptance& accepted);

}  // namespace tenure::api
