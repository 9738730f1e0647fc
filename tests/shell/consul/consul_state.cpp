#include "consul/consul_state.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace tenure::shell {
namespace {

/// As Consul's ids look: 8-4-4-4-12 digits.
std::string id_of(std::uint64_t number) {
  std::array<char, 40> out{};
  std::snprintf(out.data(), out.size(), "%08x-5e55-10e0-0000-%012llx",
                static_cast<unsigned>(number * 2654435761U),
                static_cast<unsigned long long>(number));
  return out.data();
}

std::string quoted(const std::string& key) {
  return '"' + key + '"';
}

}  // namespace

std::uint64_t consul_state::index_of(const std::string& prefix) const {
  std::uint64_t most = 0;
  for (auto at = keys_.lower_bound(prefix); at != keys_.end() && at->first.starts_with(prefix);
       ++at) {
    most = std::max(most, at->second.modify);
  }
  for (auto at = deleted_.lower_bound(prefix);
       at != deleted_.end() && at->first.starts_with(prefix); ++at) {
    most = std::max(most, at->second);
  }
  return most > 0 ? most : last_key_write_;
}

const consul_state::entry* consul_state::find(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : &found->second;
}

std::vector<std::string> consul_state::keys_under(const std::string& prefix) const {
  std::vector<std::string> out;
  for (auto at = keys_.lower_bound(prefix); at != keys_.end() && at->first.starts_with(prefix);
       ++at) {
    out.push_back(at->first);
  }
  return out;
}

std::vector<std::string> consul_state::keys_of(const std::string& session) const {
  std::vector<std::string> out;
  for (const auto& [key, one] : keys_) {
    if (one.session == session) out.push_back(key);
  }
  return out;
}

const consul_state::session* consul_state::find_session(const std::string& id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

std::string consul_state::make_session(session what) {
  ++index_;
  what.number = ++last_session_;
  std::string id = id_of(what.number);
  sessions_[id] = std::move(what);
  return id;
}

void consul_state::end_session(const std::string& id) {
  ++index_;
  const bool removes = sessions_.at(id).removes;
  for (const std::string& key : keys_of(id)) {
    if (removes) {
      erase(key);
      continue;
    }
    entry& held = keys_.at(key);
    held.session.clear();
    held.modify = last_key_write_ = index_;
  }
  sessions_.erase(id);
}

consul_state::outcome consul_state::transact(const std::vector<operation>& all) {
  const consul_state before = *this;
  ++index_;
  outcome out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (auto why = carry_out(all[i], out)) out.errors.push_back({.which = i, .what = *why});
  }
  if (out.errors.empty()) return out;
  const std::uint64_t used = index_;
  *this = before;
  // The log has it all the same.
  index_ = used;
  out.results.clear();
  return out;
}

std::optional<std::string> consul_state::carry_out(const operation& one, outcome& to) {
  const entry* const there = find(one.key);
  const std::string key = quoted(one.key);
  const auto show = [&](bool with_value) {
    to.results.push_back({.key = one.key, .what = *there, .with_value = with_value});
  };
  if (one.verb == "set") {
    put(one, 0, there == nullptr ? "" : there->session, to);
  } else if (one.verb == "cas") {
    if (one.index == 0 ? there != nullptr : there == nullptr || there->modify != one.index) {
      return "failed to set key " + key + ", index is stale";
    }
    put(one, 0, there == nullptr ? "" : there->session, to);
  } else if (one.verb == "lock") {
    if (find_session(one.session) == nullptr) return "invalid session " + quoted(one.session);
    if (there != nullptr && !there->session.empty() && there->session != one.session) {
      return "failed to lock key " + key + ", lock is already held";
    }
    const bool is_own = there != nullptr && there->session == one.session;
    put(one, (there == nullptr ? 0 : there->lock_index) + (is_own ? 0 : 1), one.session, to);
  } else if (one.verb == "unlock") {
    if (there == nullptr || there->session != one.session || one.session.empty()) {
      return "failed to unlock key " + key + ", lock isn't held, or is held by another session";
    }
    put(one, there->lock_index, "", to);
  } else if (one.verb == "delete") {
    if (there != nullptr) erase(one.key);
  } else if (one.verb == "delete-cas") {
    if (there != nullptr && there->modify != one.index) {
      return "failed to delete key " + key + ", index is stale";
    }
    if (there != nullptr) erase(one.key);
  } else if (one.verb == "check-not-exists") {
    if (there != nullptr) return "key " + key + " exists";
  } else if (one.verb == "check-index") {
    if (there == nullptr) return "failed to check index, key " + key + " doesn't exist";
    if (there->modify != one.index) {
      return "failed index check for key " + key + ", current modify index " +
             std::to_string(there->modify) + " != " + std::to_string(one.index);
    }
    show(false);
  } else if (one.verb == "check-session") {
    if (there == nullptr) return "failed to check session, key " + key + " doesn't exist";
    if (there->session != one.session) {
      return "failed session check for key " + key + ", current session " + quoted(there->session) +
             " != " + quoted(one.session);
    }
    show(false);
  } else if (one.verb == "get") {
    if (there == nullptr) return "key " + key + " doesn't exist";
    show(true);
  } else {
    return "unknown KV verb " + quoted(one.verb);
  }
  return std::nullopt;
}

void consul_state::put(const operation& one, std::uint64_t lock_index, const std::string& holder,
                       outcome& to) {
  entry& into = keys_[one.key];
  const bool is_same = into.create > 0 && into.value == one.value && into.flags == one.flags &&
                       into.lock_index == lock_index && into.session == holder;
  // Consul skips a write that changes nothing.
  if (is_same) return to.results.push_back({.key = one.key, .what = into});
  into = {.value = one.value,
          .flags = one.flags,
          .lock_index = lock_index,
          .create = into.create == 0 ? index_ : into.create,
          .modify = index_,
          .session = holder};
  last_key_write_ = index_;
  deleted_.erase(one.key);
  to.results.push_back({.key = one.key, .what = into});
}

void consul_state::erase(const std::string& key) {
  keys_.erase(key);
  deleted_[key] = last_key_write_ = index_;
}

void consul_state::restore(const consul_state& backup) {
  const std::uint64_t newest = index_;
  const std::uint64_t sessions = last_session_;
  *this = backup;
  index_ = newest + 1;
  last_session_ = sessions;
}

}  // namespace tenure::shell
