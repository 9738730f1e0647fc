#include "cli/wait_condition.hpp"

namespace tenure::cli {
namespace {

constexpr std::string_view of_holder = "holder=";

}  // namespace

std::expected<wait_condition, std::string> parse_condition(const std::string& text) {
  using kind = wait_condition::kind;
  if (text == "active") return wait_condition{.is = kind::active};
  if (text == "standby") return wait_condition{.is = kind::standby};
  if (text == "vacant") return wait_condition{.is = kind::vacant};
  if (text.starts_with(of_holder) && text.size() > of_holder.size()) {
    return wait_condition{.is = kind::holder, .holder = text.substr(of_holder.size())};
  }
  return std::unexpected("--for \"" + text +
                         "\" is no state; use active, standby, holder=MEMBER or vacant");
}

bool is_met(const wait_condition& what, const election_report& now) {
  switch (what.is) {
    case wait_condition::kind::active:
      return now.is_self;
    case wait_condition::kind::standby:
      return now.state == "candidate" && !now.paused;
    case wait_condition::kind::holder:
      return now.seat_of(what.holder) != nullptr;
    case wait_condition::kind::vacant:
      return now.holders.empty() && now.state != "draining";
  }
  return false;
}

std::string standing_text(const election_report& now) {
  std::string out = now.identity + " is " + (now.state == "candidate" ? "a standby" : now.state) +
                    " in " + now.election + (now.paused ? ", paused" : "") + "; ";
  if (now.holders.empty()) return out + "nobody holds it";
  for (std::size_t i = 0; i < now.holders.size(); ++i) {
    out += (i == 0 ? "" : ", ") + now.holders[i].holder + " holds it, under version " +
           std::to_string(now.holders[i].version);
  }
  return out;
}

}  // namespace tenure::cli
