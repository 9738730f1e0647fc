#include "stores/store.hpp"

namespace tenure::stores {

not_agreed too_many_hold(std::string_view election, std::size_t holders, std::uint32_t slots) {
  return {.why = std::to_string(holders) + " hold election \"" + std::string(election) + "\" now",
          .action = "restart members with slots " + std::to_string(slots) +
                    " first, standbys before holders, until no more than " + std::to_string(slots) +
                    (slots == 1 ? " holds it" : " hold it") +
                    " (with that number they do not campaign yet), and ask again"};
}

}  // namespace tenure::stores
