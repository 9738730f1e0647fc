#include "process/environment.hpp"

#include <unistd.h>

#include <string_view>

namespace tenure::process {
namespace {

bool sets(const char* entry, std::string_view variable) {
  const std::string_view text(entry);
  return text.starts_with(variable) && text.substr(variable.size()).starts_with('=');
}

}  // namespace

std::vector<char*> own_environment() {
  std::vector<char*> kept;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    // The page would be the one of an outer guard, whose workload we are.
    if (!sets(*entry, guard_fds_variable) && !sets(*entry, page_variable)) kept.push_back(*entry);
  }
  return kept;
}

std::vector<char*> pointers_to(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace tenure::process
