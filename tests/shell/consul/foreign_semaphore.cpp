#include "consul/foreign_semaphore.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/base64.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::uint64_t flags_of_a_semaphore = 0xe0f69a2baa414de0;

std::string with_flags() {
  return "&flags=" + std::to_string(flags_of_a_semaphore);
}

bool says_true(const std::expected<http::client_reply, http::client_error>& what) {
  return what && what->status == 200 && what->body == "true";
}

}  // namespace

foreign_semaphore::foreign_semaphore(stage& s, std::size_t number, std::string election,
                                     std::uint64_t seed)
    : foreign_contender(s, number, std::move(election), seed) {
  behavior_ = "delete";
}

void foreign_semaphore::acquire() {
  call({.method = "PUT",
        .target = prefix() + session_ + "?acquire=" + session_ + with_flags(),
        .body = "client"},
       [this](const reply& found) { says_true(found) ? look() : over(); });
}

/// Instead of a blocking query between attempts.
void foreign_semaphore::again() {
  later(dice_.spread(10ms, 500ms), [this] { look(); });
}

void foreign_semaphore::look() {
  call({.method = "GET", .target = prefix() + "?recurse"}, [this](const reply& found) {
    if (!found || (found->status != 200 && found->status != 404)) return again();
    const auto seen = lock_in(found, true);
    if (!seen) return over();
    seen->holders.size() < stage_.slots ? take(*seen) : again();
  });
}

std::optional<foreign_semaphore::lock_key> foreign_semaphore::lock_in(const reply& found,
                                                                      bool with_all) const {
  if (found->status == 404) return lock_key();
  lock_key out;
  std::set<std::string> alive;
  for (const json& kv : json::parse(found->body)) {
    if (kv.contains("Session")) alive.insert(kv.at("Session").get<std::string>());
    if (kv.at("Key") != election_ + "/.lock") continue;
    if (kv.at("Flags") != flags_of_a_semaphore) return std::nullopt;
    out.index = kv.at("ModifyIndex");
    const auto text = kv.at("Value").is_string()
                          ? base::from_base64(kv.at("Value").get<std::string>())
                          : std::nullopt;
    const json body = json::parse(text.value_or(""), nullptr, false);
    if (!body.is_object() || body.value("Limit", json()) != stage_.slots) return std::nullopt;
    const json holders = body.value("Holders", json::object());
    if (!holders.is_object()) return std::nullopt;
    for (const auto& [session, holds] : holders.items()) out.holders.insert(session);
  }
  if (with_all) std::erase_if(out.holders, [&](const auto& one) { return !alive.contains(one); });
  return out;
}

void foreign_semaphore::write(const lock_key& seen, std::function<void(bool)> then) {
  json holders = json::object();
  for (const std::string& one : seen.holders) holders[one] = true;
  const json body{{"Limit", stage_.slots}, {"Holders", holders}};
  call({.method = "PUT",
        .target = prefix() + ".lock?cas=" + std::to_string(seen.index) + with_flags(),
        .body = body.dump()},
       [then = std::move(then)](const reply& found) { then(says_true(found)); });
}

void foreign_semaphore::take(const lock_key& seen) {
  lock_key with_us = seen;
  with_us.holders.insert(session_);
  write(with_us, [this](bool done) { done&& may_act() ? hold(key()) : again(); });
}

void foreign_semaphore::release() {
  call({.method = "GET", .target = prefix() + ".lock"},
       [this](const reply& found) { leave(found); });
}

/// A crash between the two steps leaves what the end of its session cleans up.
void foreign_semaphore::leave(const reply& found) {
  if (!found || found->status != 200) return over();
  auto seen = lock_in(found, false);
  if (!seen || seen->holders.erase(session_) == 0) return over();
  write(*seen, [this](bool done) {
    if (!done) return release();
    call({.method = "DELETE", .target = prefix() + session_}, [this](const reply&) { over(); });
  });
}

}  // namespace tenure::shell
