#include "api/control.hpp"

#include <utility>

namespace tenure::api {

control_refusal refusal(unsigned status, std::string code, std::string message,
                        std::string action) {
  return {
      .status = status,
      .why = {.code = std::move(code), .message = std::move(message), .action = std::move(action)}};
}

control_refusal refusal_at_the_end() {
  return refusal(503, "stopping", "the agent was told to end", "ask another agent");
}

}  // namespace tenure::api
