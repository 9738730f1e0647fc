#include "manifest/pod_class.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "manifest/documents.hpp"

namespace tenure::manifest {
namespace {

using config::yaml_node;

bool has_all_limits(const yaml_node* of) {
  const yaml_node* const limits = of == nullptr ? nullptr : member_of(*of, "limits");
  if (limits == nullptr) return false;
  const yaml_node* const requests = member_of(*of, "requests");
  return std::ranges::all_of(std::array<std::string_view, 2>{"cpu", "memory"}, [&](auto key) {
    const std::string limit = text_of(*limits, key);
    const std::string request = requests == nullptr ? "" : text_of(*requests, key);
    return !limit.empty() && (request.empty() || request == limit);
  });
}

}  // namespace

bool is_guaranteed(const yaml_node& pod) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    const yaml_node* const all = member_of(pod, list);
    if (all == nullptr) continue;
    for (const auto& one : all->items) {
      if (!has_all_limits(member_of(*one, "resources"))) return false;
    }
  }
  return true;
}

}  // namespace tenure::manifest
