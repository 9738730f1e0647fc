#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "api/control.hpp"
#include "net/http_message.hpp"

namespace tenure::api {

/// The order in a body: `{"to":NAME,"aside":DURATION}` as far as `what` takes them; an empty body
/// is
/// `{}`. The error is one sentence. What is unknown is refused: a misspelt `to` would otherwise let
/// anybody take over.
std::expected<control_order, std::string> parse_order(control_action what, std::string_view body);

net::response accepted_response(const std::string& election, const control_order& what);

}  // namespace tenure::api
