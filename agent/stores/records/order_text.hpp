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

/// True if `text` is this order, answered or not: a request that leaves it may be carried out again
/// after the answer, because its first reply was lost.
bool is_text_of(std::string_view text, const core::left_order& what);

/// Why it is not known whether an order was dropped that was written each time after it was read.
std::string written_again_and_again(const std::string& id, const std::string& where);

}  // namespace tenure::stores
