#include "cli/client/wait_condition.hpp"

#include "cli/text/knowledge.hpp"

namespace tenure::cli {
namespace {

constexpr std::string_view of_holder = "holder=";

}  // namespace

std::expected<wait_condition, std::string> parse_condition(const std::string& text) {
  using kind = wait_condition::kind;
  if (text == "active") return wait_condition{.is = kind::active};
  if (text == "standby") return wait_condition{.is = kind::standby};
  if (text == "held") return wait_condition{.is = kind::held};
  if (text == "vacant") return wait_condition{.is = kind::vacant};
  if (text.starts_with(of_holder) && text.size() > of_holder.size()) {
    return wait_condition{.is = kind::holder, .holder = text.substr(of_holder.size())};
  }
  return std::unexpected("--for \"" + text +
                         "\" is not a state; use active, standby, holder=MEMBER, held or vacant");
}

met judge(const wait_condition& what, const wire::election_report& now) {
  const auto of = [](bool is_so) { return is_so ? met::yes : met::no; };
  switch (what.is) {
    case wait_condition::kind::active:
      return of(now.is_self);
    case wait_condition::kind::standby:
      return of(now.state == "candidate" && !now.paused);
    case wait_condition::kind::holder:
      // Its own lease is certain, even if it knows nothing of the others.
      if (now.is_self && what.holder == now.identity) return met::yes;
      if (!now.holder_known) return met::cannot_tell;
      return of(holder_named(now, what.holder) != nullptr);
    case wait_condition::kind::held:
      if (now.is_self) return met::yes;
      if (!now.holder_known) return met::cannot_tell;
      return of(!now.holders.empty());
    case wait_condition::kind::vacant:
      if (now.state == "draining") return met::no;
      if (!now.holder_known) return met::cannot_tell;
      return of(now.holders.empty());
  }
  return met::no;
}

std::string status_text(const wire::election_report& now) {
  std::string out = now.identity + " is " + (now.state == "candidate" ? "a " : "") +
                    state_word(now) + " in " + now.election + (now.paused ? ", paused" : "") + "; ";
  if (now.holders.empty())
    out += now.holder_known ? "nobody holds it" : "who holds it is not known";
  for (std::size_t i = 0; i < now.holders.size(); ++i) {
    out += (i == 0 ? "" : ", ") + now.holders[i].identity +
           (now.holder_known ? " holds it" : " held it") + ", under version " +
           text(now.holders[i].version);
  }
  if (now.holder_known) return out;
  return out + (now.holder_age_ms ? ", " + as_of_text(now) : "") + "; " + why_not_known(now);
}

}  // namespace tenure::cli
