#include "consul/terms.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/digest.hpp"

namespace tenure::shell {
namespace {

using nlohmann::json;

constexpr std::uint64_t flags_of_a_lock = 0x2ddccbc058a50c18;
constexpr std::string_view lock_name = "/.lock";
/// The judge takes what is above that of a lease's number for the session of an agent.
constexpr int session_shift = 24;
constexpr std::uint64_t most_of_a_session = 0x7fffffff;

/// The words of a key's value: a name, the mark of an agent, a version that has moved along, and a
/// slot, which begins with a letter.
std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string one; in >> one;) out.push_back(one);
  return out;
}

std::uint64_t version_of(const consul_state::entry& one) {
  constexpr std::size_t place = 2;
  const auto said = words(one.value);
  if (said.size() <= place || said[place].starts_with("slot=")) return one.modify;
  const std::uint64_t version = std::stoull(said[place]);
  // Anybody can write something else there.
  return version > 0 && version < one.modify ? version : one.modify;
}

std::string owner_of(const consul_state& in, const std::string& session) {
  const std::string& name = in.find_session(session)->name;
  return name.substr(name.find(' ') + 1);
}

/// One number for each session, whose upper part is the same for all sessions of an agent.
std::int64_t lease_of(const consul_state& in, const consul_terms::holder& one) {
  const auto said = words(in.find(one.key)->value);
  const std::uint64_t agent = said.size() > 1 ? base::digest(said[1]) & most_of_a_session : 0;
  return static_cast<std::int64_t>(agent << session_shift | in.find_session(one.session)->number);
}

}  // namespace

std::vector<consul_terms::holder> consul_terms::holders(const consul_state& in,
                                                        const std::string& election) {
  const std::string lock = election + std::string(lock_name);
  const auto* const there = in.find(lock);
  if (there == nullptr) return {};
  if (there->flags == flags_of_a_lock) {
    if (there->session.empty()) return {};
    return {{.key = lock,
             .session = there->session,
             .owner = owner_of(in, there->session),
             .version = version_of(*there)}};
  }
  const json body = json::parse(there->value, nullptr, false);
  if (!body.is_object() || !body.contains("Holders")) return {};
  // Whose session locks any key below the prefix is alive; its contender's key says since when it
  // holds.
  std::map<std::string, std::string> alive;
  for (const std::string& key : in.keys_under(election + "/")) {
    const std::string& session = in.find(key)->session;
    if (!session.empty()) alive.emplace(session, key);
  }
  std::vector<holder> out;
  for (const auto& [place, one] : body.at("Holders").items()) {
    const std::string session = one.is_string() ? one.get<std::string>() : place;
    const auto by = alive.find(session);
    if (by == alive.end()) continue;
    const std::string own = election + "/" + session;
    const auto* const contender = in.find(own);
    const bool is_named = contender != nullptr && contender->session == session;
    const std::string& key = is_named ? own : by->second;
    out.push_back({.key = key,
                   .session = session,
                   .owner = owner_of(in, session),
                   .version = version_of(*in.find(key))});
  }
  std::ranges::sort(out, {}, &holder::version);
  return out;
}

consul_terms::all_holders consul_terms::all(const consul_state& in) {
  all_holders out;
  for (const auto& [key, what] : in.keys()) {
    if (!key.ends_with(lock_name)) continue;
    const std::string election = key.substr(0, key.size() - lock_name.size());
    for (auto& one : holders(in, election)) out[{election, one.version}] = one;
  }
  return out;
}

/// A term whose owner has put it into another session goes on.
void consul_terms::changed(const consul_state& now, erased_by how) {
  tell_slots(now);
  auto next = all(now);
  const auto goes_on = [](const all_holders& in, const auto& one) {
    const auto found = in.find(one.first);
    return found != in.end() && found->second.owner == one.second.owner;
  };
  for (const auto& one : present_) {
    if (!goes_on(next, one)) witness_.erased(one.second.key, one.second.version, how);
  }
  for (const auto& one : next) {
    const holder& is = one.second;
    if (!goes_on(present_, one)) {
      witness_.created(is.key, is.version, lease_of(now, is), is.owner);
    } else if (present_.at(one.first).session != is.session) {
      witness_.moved(is.version, is.key, lease_of(now, is));
    }
  }
  present_ = std::move(next);
}

/// A lock is one slot, a semaphore has its limit.
void consul_terms::tell_slots(const consul_state& now) {
  std::map<std::string, std::uint32_t> said;
  for (const auto& [key, what] : now.keys()) {
    if (!key.ends_with(lock_name)) continue;
    const std::string election = key.substr(0, key.size() - lock_name.size());
    const json body = json::parse(what.value, nullptr, false);
    const bool is_lock = what.flags == flags_of_a_lock;
    if (is_lock) said[election] = 1;
    if (!is_lock && body.is_object() && body.contains("Limit")) {
      said[election] =
          body.at("Limit").is_number_unsigned() ? body.at("Limit").get<std::uint32_t>() : 0;
    }
  }
  for (const auto& [election, slots] : slots_) {
    if (!said.contains(election)) witness_.agreed(election, 0);
  }
  for (const auto& [election, slots] : said) {
    const auto before = slots_.find(election);
    if (before == slots_.end() || before->second != slots) witness_.agreed(election, slots);
  }
  slots_ = std::move(said);
}

void consul_terms::restored(const consul_state& now) {
  present_ = all(now);
  std::vector<restored_key> there;
  for (const auto& [which, one] : present_) {
    there.push_back({.key = one.key, .create_revision = one.version, .lease = lease_of(now, one)});
  }
  witness_.restored(there, now.index());
  tell_slots(now);
}

}  // namespace tenure::shell
