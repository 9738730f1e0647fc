#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "etcd/key_space.hpp"

/// What the transactions of etcd's gateway mean for a key space.
namespace tenure::shell {

/// True if this transaction writes nothing and compares nothing.
[[nodiscard]] bool only_reads(const nlohmann::json& transaction);
/// True if the asked member answers it from its own state, even if that is behind.
[[nodiscard]] bool is_local(const nlohmann::json& transaction);
/// The operations that its conditions select now; `succeeded`: whether these hold.
[[nodiscard]] const nlohmann::json& chosen(const nlohmann::json& transaction, const key_space& in,
                                           bool& succeeded);

/// Carries out one operation in the open transaction of `in`. Sets `error`, a reply, if it makes no
/// sense.
[[nodiscard]] nlohmann::json carry_out(const nlohmann::json& operation, key_space& in,
                                       std::string& error);
/// A range as of this revision.
[[nodiscard]] nlohmann::json read(const nlohmann::json& range, const key_space& in,
                                  std::uint64_t at);

}  // namespace tenure::shell
