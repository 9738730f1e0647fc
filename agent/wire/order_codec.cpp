#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/duration_text.hpp"
#include "base/json_nesting.hpp"
#include "wire/json_codec.hpp"
#include "wire/order.hpp"

namespace tenure::wire {

static void describe(maybe_const<accepted_order> auto& of, auto& with) {
  with("accepted", of.accepted);
  with("election", of.election);
  with("action", of.action);
  with("by", of.by);
  with.if_any("to", of.to);
  with.if_any("accept_versions", of.accept_versions);
}

namespace {

using nlohmann::json;

/// To step aside for longer, pause the member.
constexpr core::duration longest_aside = std::chrono::hours(24);

/// "30s", "90s500ms7us": exact to the microsecond, as base::read_duration reads it.
std::string duration_text(core::duration what) {
  const auto us = std::chrono::floor<std::chrono::microseconds>(what).count();
  const std::string whole = std::to_string(us / 1'000'000) + "s";
  if (us % 1'000'000 == 0) return whole;
  return whole + std::to_string(us / 1000 % 1000) + "ms" + std::to_string(us % 1000) + "us";
}

/// The defect of one member of an order; empty if `to` was set.
std::string take(std::string_view name, const json& value, core::order& to) {
  const bool sets = to.what == core::order_action::set;
  const std::string quoted = "\"" + std::string(name) + "\"";
  if (name == "member" ? !sets : name == "to" && core::gives_up(to.what)) {
    if (!value.is_string() || value == "") return quoted + " is not the name of a member";
    (name == "to" ? to.heir : to.member) = value.get<std::string>();
  } else if (name == "aside" && core::gives_up(to.what)) {
    if (!value.is_string()) return quoted + " is not a text such as \"30s\"";
    const auto aside = base::read_duration(value.get_ref<const std::string&>(), longest_aside);
    if (!aside) return quoted + " is not a duration such as \"30s\"";
    to.aside = *aside;
  } else if (name == "slots" && sets) {
    return quoted +
           " cannot be set: the number of slots follows the members; restart them with the new one";
  } else if (name == "accept_versions" && sets) {
    if (!value.is_boolean()) return quoted + " is neither true nor false";
    to.accept_versions = value.get<bool>();
  } else {
    return quoted + " does not apply to " + std::string(core::name(to.what));
  }
  return {};
}

}  // namespace

std::string write(const core::order& what) {
  std::string out;
  object_writer with(out);
  with.if_any("member", what.member);
  with.if_any("to", what.heir);
  if (what.aside) with("aside", duration_text(*what.aside));
  with.if_any("accept_versions", what.accept_versions);
  with.end();
  return out;
}

std::expected<core::order, std::string> read_order(core::order_action action,
                                                   std::string_view body) {
  core::order out{.what = action};
  if (base::nests_deeper(body)) return std::unexpected("the body is nested too deeply");
  const json given = body.empty() ? json::object() : parsed(body);
  if (!given.is_object()) return std::unexpected("the body is not a JSON object");
  for (const auto& [name, value] : given.items()) {
    if (auto wrong = take(name, value, out); !wrong.empty()) {
      return std::unexpected(std::move(wrong));
    }
  }
  if (action == core::order_action::transfer && out.heir.empty()) {
    return std::unexpected("transfer needs \"to\", the member that is to hold next");
  }
  if (action == core::order_action::set && !out.accept_versions) {
    return std::unexpected("set needs \"accept_versions\"");
  }
  return out;
}

std::string write(const accepted_order& what) {
  std::string out;
  append(out, what);
  return out;
}

std::optional<accepted_order> read_accepted_order(std::string_view body) {
  std::optional<accepted_order> out;
  read(parsed(body), out);
  return out;
}

}  // namespace tenure::wire
