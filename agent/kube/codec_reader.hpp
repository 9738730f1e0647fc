#pragma once

#include <cstdint>
#include <expected>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// The tools with which the codecs of this room read JSON.
namespace tenure::kube {

/// Reads members of JSON objects, and keeps the first reason why the whole cannot be used.
class reader {
 public:
  using path = std::initializer_list<std::string_view>;

  void require(bool holds, std::string_view what) {
    if (!holds && why_.empty()) why_ = what;
  }
  [[nodiscard]] const std::string& why() const { return why_; }

  /// The member at this path; null if one of its parts is absent or null.
  const nlohmann::json* find(const nlohmann::json& in, path at);

  /// Empty if absent.
  std::string text(const nlohmann::json& in, path at);

  /// Empty if absent.
  const nlohmann::json& list(const nlohmann::json& in, path at);

  /// `otherwise` if absent.
  std::int64_t number(const nlohmann::json& in, path at, std::int64_t otherwise);

  /// False if absent.
  bool is_true(const nlohmann::json& in, path at);

 private:
  std::string why_;
};

/// Why a body cannot be used, printable and in one line.
std::unexpected<std::string> unusable(const std::string& why, std::string_view body);

/// How deeply an answer may be nested. Pods have more levels than other objects that agents read.
inline constexpr int most_levels = 64;

std::expected<nlohmann::json, std::string> read_object(std::string_view body);

}  // namespace tenure::kube
