#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/member_order.hpp"

/// The value of an order's key. Pure.
namespace tenure::stores {

/// `ACTION MEMBER TERM ASIDE_NS HEIR`, followed after the answer by `accepted BY` or `refused BY
/// CODE MESSAGE ACTION`; names and texts percent-encoded, `*` for an absent one. `by`: the run that
/// answered, so that it recognizes its own answer; ignored while there is no answer.
std::string order_text(const core::left_order& what, const std::string& by = {});

/// Nothing if `text` is not an order: others may write under these keys, too. `id`: of the order's
/// key.
std::optional<core::left_order> parse_order(std::string id, std::string_view text);

}  // namespace tenure::stores
