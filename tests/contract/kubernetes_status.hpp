#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tenure::tests {

/// A metav1.Status, as API servers answer errors.
inline std::string status_json(int code, const std::string& reason,
                               const std::string& message = "no") {
  return nlohmann::json{
      {"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", nlohmann::json::object()},
      {"status", "Failure"}, {"message", message}, {"reason", reason},
      {"code", code}}
      .dump();
}

}  // namespace tenure::tests
