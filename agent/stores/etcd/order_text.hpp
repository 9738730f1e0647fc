#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/member_order.hpp"

/// The value of an order's key. Pure.
namespace tenure::stores::etcd {

/// `ACTION MEMBER TERM ASIDE_NS HEIR`, and once it was taken `accepted BY` or `refused BY CODE
/// MESSAGE ACTION`; names and texts percent-encoded, `*` for what is not there. `by` tells who has
/// taken it, so that one can recognize its own answer; not looked at while there is none.
std::string order_text(const core::left_order& what, const std::string& by = {});

/// Nothing if it is none: what somebody else has written is no order. `id`: of its key.
std::optional<core::left_order> parse_order(std::string id, std::string_view text);

}  // namespace tenure::stores::etcd
