#include "process/cgroup_text.hpp"

#include <algorithm>

namespace tenure::process {
namespace {

constexpr std::size_t id_digits = 64;
constexpr std::size_t short_id_digits = 12;

struct line {
  std::string_view controllers;
  std::string_view path;
  std::string_view key;  ///< "CONTROLLERS:PATH"
};

/// Takes the next line off `rest`; false at the end, and if the text is not a list of cgroups.
bool take_line(std::string_view& rest, line& out) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view whole = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  const std::size_t number = whole.find(':');
  if (number == std::string_view::npos) return false;
  // A cgroup that was removed while a process was still in it.
  constexpr std::string_view removed = " (deleted)";
  out.key = whole.substr(number + 1);
  if (out.key.ends_with(removed)) out.key.remove_suffix(removed.size());
  const std::size_t controllers = out.key.find(':');
  if (controllers == std::string_view::npos) return false;
  out.controllers = out.key.substr(0, controllers);
  out.path = out.key.substr(controllers + 1);
  return true;
}

/// The path in the hierarchy with these controllers; empty if there is none.
std::string_view path_in(std::string_view cgroups, std::string_view controllers) {
  line one;
  while (take_line(cgroups, one)) {
    if (one.controllers == controllers) return one.path;
  }
  return {};
}

/// Takes the next name off a path; empty at its end.
std::string_view take_name(std::string_view& path) {
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  const std::string_view name = path.substr(0, std::min(path.find('/'), path.size()));
  path.remove_prefix(name.size());
  return name;
}

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// Where in `name` an id begins; npos if there is none.
std::size_t find_id(std::string_view name) {
  std::size_t run = 0;
  for (std::size_t at = 0; at <= name.size(); ++at) {
    if (at < name.size() && is_digit(name[at])) {
      ++run;
      continue;
    }
    if (run == id_digits) return at - run;
    run = 0;
  }
  return std::string_view::npos;
}

/// The part of `path` up to the end of its first name with an id; empty if there is none.
std::string_view up_to_id(std::string_view path) {
  std::string_view rest = path;
  for (;;) {
    const std::string_view name = take_name(rest);
    if (name.empty()) return {};
    if (find_id(name) != std::string_view::npos) return path.substr(0, path.size() - rest.size());
  }
}

/// Removes the common beginning from both. True if it contained a name with an id.
bool part(std::string_view& theirs, std::string_view& ours) {
  bool id_in_common = false;
  for (;;) {
    std::string_view their_rest = theirs;
    std::string_view our_rest = ours;
    const std::string_view name = take_name(their_rest);
    if (name != take_name(our_rest) || name.empty()) return id_in_common;
    id_in_common = id_in_common || find_id(name) != std::string_view::npos;
    theirs = their_rest;
    ours = our_rest;
  }
}

std::string_view last_name(std::string_view path) {
  std::string_view last;
  for (;;) {
    const std::string_view name = take_name(path);
    if (name.empty()) return last;
    last = name;
  }
}

bool is_end(std::string_view path) {
  return take_name(path).empty();
}

/// True if the path consists of ".." only.
bool leads_up_only(std::string_view path) {
  for (;;) {
    const std::string_view name = take_name(path);
    if (name.empty()) return true;
    if (name != "..") return false;
  }
}

}  // namespace

cgroup_verdict container_of(std::string_view theirs, std::string_view ours) {
  bool beside_us = false;  // a hierarchy has both in the same cgroup
  bool above_us = false;
  std::string_view narrowest;
  std::size_t longest = 0;
  line one;
  while (take_line(theirs, one)) {
    std::string_view their_rest = one.path;
    std::string_view our_rest = path_in(ours, one.controllers);
    if (our_rest.empty() || their_rest.empty()) continue;
    const bool id_in_common = part(their_rest, our_rest);
    const std::string_view container = up_to_id(their_rest);
    if (!container.empty()) {
      const std::size_t after = their_rest.size() - container.size();
      return {.relation = cgroup_relation::separate,
              .container = one.key.substr(0, one.key.size() - after)};
    }
    // Both are in the same container: ours.
    const bool same_container = id_in_common && up_to_id(our_rest).empty();
    if (same_container || (is_end(their_rest) && is_end(our_rest))) {
      beside_us = true;
    } else if (leads_up_only(their_rest)) {
      above_us = true;
    } else if (one.path.size() > longest) {
      // A controller that is off for a systemd unit shows the slice above it, so the longest path
      // is the narrowest group.
      longest = one.path.size();
      narrowest = one.key;
    }
  }
  if (!narrowest.empty()) return {.relation = cgroup_relation::separate, .container = narrowest};
  return {.relation = beside_us && !above_us ? cgroup_relation::same : cgroup_relation::unclear,
          .container = {}};
}

bool is_in_container(std::string_view cgroups, std::string_view container) {
  const std::size_t colon = std::min(container.find(':'), container.size());
  std::string_view wanted = container.substr(colon);
  if (wanted.empty()) return false;
  wanted.remove_prefix(1);
  const std::string_view path = path_in(cgroups, container.substr(0, colon));
  if (!path.starts_with(wanted)) return false;
  const bool below = path.size() > wanted.size() && path[wanted.size()] == '/';
  if (path.empty()) return false;
  if (path.size() == wanted.size()) return true;
  return below && find_id(last_name(wanted)) != std::string_view::npos;
}

bool is_within(std::string_view theirs, std::string_view ours) {
  line one;
  while (take_line(ours, one)) {
    std::string_view rest = path_in(theirs, one.controllers);
    std::string_view above = one.path;
    part(rest, above);
    if (!is_end(above) || rest.starts_with("/..")) return false;
  }
  return true;
}

std::string_view short_name(std::string_view container) {
  const std::string_view last = last_name(container.substr(container.find(':') + 1));
  const std::size_t id = find_id(last);
  return id == std::string_view::npos ? last : last.substr(id, short_id_digits);
}

}  // namespace tenure::process
