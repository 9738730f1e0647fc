#include "core/word.hpp"

namespace tenure::core {

std::string statement(const word& what) {
  return "tenure: term " + std::to_string(number(what.ended)) + " is over, and place " +
         std::to_string(number(what.told)) + " is next, of " + what.election;
}

}  // namespace tenure::core
