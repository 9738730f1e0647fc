#include "kube/traffic_switch.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace tenure::kube {
namespace {

using kind = traffic_wish::kind;

/// Tells failures apart: of each one, the first in a row is said. What it means is a part of it.
std::string words_of(const notice::failed& what) {
  return std::to_string(static_cast<int>(what.wanted)) + " " +
         std::to_string(static_cast<int>(what.why.what)) + " " +
         std::to_string(static_cast<int>(what.asked.what)) + " " + what.asked.object;
}

}  // namespace

std::vector<marked_object> slices_of_others(std::vector<marked_object> all,
                                            const std::vector<std::string>& ours) {
  std::erase_if(all, [&ours](const marked_object& one) {
    return one.who == named::nobody || std::ranges::find(ours, one.name) != ours.end();
  });
  return all;
}

// --- what comes in ---------------------------------------------------------------------------

void traffic_switch::want(const traffic_wish& what, traffic_effects& out) {
  if (what == wish_) return;
  wish_ = what;
  last_term_ = std::max(last_term_, what.version);
  failures_ = 0;
  overwritings_ = 0;
  overtaken_by_ = core::no_version;
  begin(false, out);
}

void traffic_switch::woke(const core::moment& at, traffic_effects& out) {
  if (at.now < wake_at_) return;
  begin(is_settled(), out);
}

void traffic_switch::replied(const core::moment& at, std::uint64_t number, traffic_reply what,
                             traffic_effects& out) {
  const auto found = round_.open.find(number);
  if (found == round_.open.end()) return;
  const traffic_request asked = std::move(found->second);
  round_.open.erase(found);
  if (what) {
    answered(asked, std::move(*what));
  } else {
    refused(asked, std::move(what.error()), out);
  }
  proceed(at, out);
}

void traffic_switch::answered(const traffic_request& asked, std::vector<marked_object> what) {
  if (stage_ == stage::looking) {
    std::ranges::move(slices_of_others(std::move(what), where_.slices),
                      std::back_inserter(round_.astray));
    return;
  }
  for (marked_object& one : what) {
    std::string name = one.name;
    round_.objects.insert_or_assign(std::move(name), std::move(one));
  }
  const auto names_us = [this](const auto& one) {
    return is_ours(one.second) && one.second.who == named::us;
  };
  const auto ours = [this](const auto& one) { return is_ours(one.second); };
  if (std::ranges::any_of(round_.objects, ours)) {
    is_named_ = std::ranges::any_of(round_.objects, names_us);
  }
  if (asked.what != traffic_request::kind::write || !is_ours(asked.seen)) return;
  const bool named_us = asked.seen.who == named::us;
  if (asked.names_us || named_us) round_.has_changed_ours = true;
}

void traffic_switch::refused(const traffic_request& asked, api_failure why, traffic_effects& out) {
  if (stage_ == stage::looking) {
    // Our pod is named all the same. A right that is missing is said at the start.
    round_.others_are_listed = false;
    return;
  }
  const bool is_write = asked.what == traffic_request::kind::write;
  if (is_write && why.what == api_refusal::conflict) {
    round_.was_overwritten = true;
    return;
  }
  const bool is_gone = why.what == api_refusal::missing;
  // Another pod that is gone names nobody.
  if (is_write && is_gone && !is_ours(asked.seen)) return;
  ++out.failures;
  if (!is_gone) round_.others_are_known = false;
  if (!round_.failure) round_.failure = notice::failed{.why = std::move(why), .asked = asked};
}

// --- a round ---------------------------------------------------------------------------------

void traffic_switch::begin(bool is_look, traffic_effects& out) {
  round_ = {.is_look = is_look};
  wake_at_ = core::never;
  stage_ = stage::idle;
  if (wish_.what == kind::as_it_is) return;
  stage_ = stage::reading;
  if (where_.in_slices()) {
    for (const std::string& one : where_.slices) {
      ask({.what = traffic_request::kind::read, .object = one}, out);
    }
  } else if (holds()) {
    ask({.what = traffic_request::kind::list}, out);
  } else {
    read_ours(out);
  }
}

void traffic_switch::read_ours(traffic_effects& out) {
  round_.has_read_ours = true;
  ask({.what = traffic_request::kind::read, .object = where_.pod}, out);
}

void traffic_switch::ask(traffic_request what, traffic_effects& out) {
  what.number = ++last_number_;
  round_.open.emplace(what.number, what);
  out.requests.push_back(std::move(what));
}

void traffic_switch::write(const marked_object& to, bool names_us, core::version version,
                           traffic_effects& out) {
  ask({.what = traffic_request::kind::write,
       .object = to.name,
       .seen = to,
       .names_us = names_us,
       .version = version},
      out);
}

void traffic_switch::proceed(const core::moment& at, traffic_effects& out) {
  while (round_.open.empty()) {
    switch (stage_) {
      case stage::reading:
        // A list has our pod only if it has the label already.
        if (!where_.in_slices() && !round_.has_read_ours && !round_.failure &&
            !round_.objects.contains(where_.pod)) {
          read_ours(out);
          break;
        }
        if (is_overtaken(at, out)) return;
        stage_ = stage::clearing;
        if (holds()) clear_others(out);
        break;
      case stage::clearing:
        if (round_.was_overwritten) return end_round(at, out);
        stage_ = stage::naming;
        write_ours(out);
        break;
      case stage::naming:
        return end_round(at, out);
      case stage::looking:
        stage_ = stage::idle;
        return say_astray(out);
      case stage::idle:
      case stage::pausing:
        return;
    }
  }
}

/// A later holder decides. If ours is the term in force all the same, the version on the object is
/// from before versions began anew, and only a person can know that.
bool traffic_switch::is_overtaken(const core::moment& at, traffic_effects& out) {
  if (!holds()) return false;
  const auto later = std::ranges::find_if(
      round_.objects, [this](const auto& one) { return one.second.version > wish_.version; });
  if (later == round_.objects.end()) return false;
  const core::version by = later->second.version;
  if (std::exchange(overtaken_by_, by) != by) {
    out.notices.emplace_back(
        notice::overtaken{.object = later->first, .by = by, .ours = wish_.version});
  }
  stage_ = stage::pausing;
  wake_at_ = at.now + look_every;
  return true;
}

bool traffic_switch::has_to_be_cleared(const marked_object& one) const {
  const bool is_early = wish_.what == kind::gaining;
  if (!one.is_listed) return true;
  if (one.who == named::us) return is_early && one.version != wish_.version;
  if (where_.in_slices() && where_.slices.size() == 1) {
    // The write that names us takes the other's name away.
    return one.who == named::other && is_early;
  }
  if (is_ours(one) && !where_.in_slices()) return false;
  // Also where nobody is named: what an earlier holder has sent may still arrive.
  return one.who == named::other || (one.version < wish_.version && !one.is_over);
}

void traffic_switch::clear_others(traffic_effects& out) {
  for (const auto& [name, one] : round_.objects) {
    if (has_to_be_cleared(one)) write(one, false, wish_.version, out);
  }
}

void traffic_switch::write_ours(traffic_effects& out) {
  const bool is_active = wish_.what == kind::active;
  for (const auto& [name, one] : round_.objects) {
    if (!is_ours(one)) continue;
    if (!one.flaw.empty() && !round_.failure) {
      ++out.failures;
      round_.failure = notice::failed{
          .why = {.what = api_refusal::invalid, .why = one.flaw},
          .asked = {.what = traffic_request::kind::write, .object = name, .names_us = is_active}};
    }
    if (is_active) {
      const bool is_done = one.who == named::us && one.version == wish_.version && one.is_complete;
      if (is_done || !one.flaw.empty() || !round_.others_are_known) continue;
      write(one, true, wish_.version, out);
    } else if (wish_.what == kind::standby) {
      // A write that was under way when our last term ended may still arrive: it must be refused.
      const bool is_done = one.who != named::us && one.version >= last_term_ &&
                           (one.is_complete || where_.in_slices());
      if (!is_done) write(one, false, std::max(one.version, last_term_), out);
    }
  }
}

void traffic_switch::list_slices(traffic_effects& out) {
  std::set<std::string> services;
  for (const auto& [name, one] : round_.objects) services.insert(one.service);
  services.erase(std::string());
  for (const std::string& one : services) {
    stage_ = stage::looking;
    ask({.what = traffic_request::kind::list, .object = one}, out);
  }
}

void traffic_switch::say_astray(traffic_effects& out) {
  if (!round_.others_are_listed) return;
  std::string names;
  for (const marked_object& one : round_.astray) names += one.name + " ";
  if (std::exchange(astray_, names) == names) return;
  out.notices.emplace_back(notice::led_astray{.by = round_.astray});
}

void traffic_switch::end_round(const core::moment& at, traffic_effects& out) {
  if (round_.was_overwritten) {
    if (++overwritings_ <= most_overwritings) return begin(round_.is_look, out);
    overwritings_ = 0;
    ++out.failures;
    return fail(at,
                {.why = {.what = api_refusal::conflict,
                         .why = "somebody else writes to the same objects all the time"}},
                out);
  }
  overwritings_ = 0;
  if (round_.failure) return fail(at, *round_.failure, out);
  succeed(at, out);
}

void traffic_switch::fail(const core::moment& at, notice::failed how, traffic_effects& out) {
  how.wanted = wish_.what;
  const std::string words = words_of(how);
  if (std::exchange(said_, words) != words) out.notices.emplace_back(std::move(how));
  stage_ = stage::pausing;
  wake_at_ = at.now + pauses.after(++failures_, at.entropy);
}

void traffic_switch::succeed(const core::moment& at, traffic_effects& out) {
  failures_ = 0;
  stage_ = stage::idle;
  if (!std::exchange(said_, {}).empty()) out.notices.emplace_back(notice::works_again{});
  if (wish_.what == kind::active) {
    wake_at_ = at.now + look_every;
    const bool is_new = std::exchange(named_, wish_.version) != wish_.version;
    if (is_new || round_.has_changed_ours) {
      out.notices.emplace_back(notice::named_us{.version = wish_.version, .again = !is_new});
    }
    return list_slices(out);
  }
  if (round_.has_changed_ours) out.notices.emplace_back(notice::not_named{});
  if (wish_.what != kind::standby) return;
  named_ = core::no_version;
  if (!round_.is_look) wake_at_ = at.now + look_every;
}

}  // namespace tenure::kube
