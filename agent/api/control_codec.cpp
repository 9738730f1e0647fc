#include "api/control_codec.hpp"

#include <nlohmann/json.hpp>

#include "base/duration_text.hpp"
#include "base/json_nesting.hpp"

namespace tenure::api {
namespace {

using json = nlohmann::ordered_json;

/// Whoever wants to be away for longer pauses.
constexpr core::duration longest_aside = std::chrono::hours(24);

/// The error says of which member it is.
std::expected<std::string, std::string> member_name(const json& value, const std::string& in) {
  if (value.is_string() && !value.get_ref<const std::string&>().empty()) {
    return value.get<std::string>();
  }
  return std::unexpected("\"" + in + "\" is not the name of a member");
}

}  // namespace

std::expected<core::order, std::string> parse_order(core::order_action what,
                                                    std::string_view body) {
  core::order out{.what = what};
  if (base::nests_deeper(body)) return std::unexpected("the body is nested too deeply");
  const json parsed =
      body.empty() ? json::object() : json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return std::unexpected("the body is not a JSON object");
  for (const auto& [member, value] : parsed.items()) {
    if ((member == "member" && what != core::order_action::set) ||
        (member == "to" && core::gives_up(what))) {
      auto named = member_name(value, member);
      if (!named) return std::unexpected(std::move(named.error()));
      (member == "to" ? out.heir : out.member) = std::move(*named);
    } else if (member == "aside" && core::gives_up(what)) {
      if (!value.is_string()) return std::unexpected("\"aside\" is no text such as \"30s\"");
      const auto aside = base::read_duration(value.get_ref<const std::string&>(), longest_aside);
      if (!aside) return std::unexpected("\"aside\" is no duration such as \"30s\"");
      out.aside = *aside;
    } else if (member == "slots" && what == core::order_action::set) {
      constexpr unsigned most_slots = 1000;
      if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
          value.get<std::uint64_t>() > most_slots) {
        return std::unexpected("\"slots\" is no number from 1 to 1000");
      }
      out.slots = value.get<std::uint32_t>();
    } else if (member == "accept_versions" && what == core::order_action::set) {
      if (!value.is_boolean())
        return std::unexpected("\"accept_versions\" is neither true nor false");
      out.accept_versions = value.get<bool>();
    } else {
      return std::unexpected("\"" + member + "\" means nothing to " +
                             std::string(core::name(what)));
    }
  }
  if (what == core::order_action::transfer && out.heir.empty()) {
    return std::unexpected("transfer needs \"to\", the member that is to hold next");
  }
  if (what == core::order_action::set && out.slots == 0 && !out.accept_versions) {
    return std::unexpected("set needs \"slots\" or \"accept_versions\"");
  }
  return out;
}

http::response accepted_response(const std::string& election, const core::order& what,
                                 const control_acceptance& accepted) {
  json out{{"accepted", true},
           {"election", election},
           {"action", core::name(what.what)},
           {"by", accepted.by}};
  if (!what.heir.empty()) out["to"] = what.heir;
  if (what.slots > 0) out["slots"] = what.slots;
  if (what.accept_versions) out["accept_versions"] = true;
  if (accepted.unchanged) out["unchanged"] = true;
  return {.status = 202,
          .body = out.dump(-1, ' ', false, json::error_handler_t::replace) + "\n",
          .headers = {{.name = "Cache-Control", .value = "no-store"}}};
}

}  // namespace tenure::api
