#include "consul/foreign_locker.hpp"

#include <string>

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t flags_of_a_lock = 0x2ddccbc058a50c18;

}  // namespace

void foreign_locker::put(const char* verb, answer then) {
  call({.method = "PUT",
        .target = prefix() + ".lock?" + verb + "=" + session_ +
                  "&flags=" + std::to_string(flags_of_a_lock),
        .body = "client"},
       std::move(then));
}

/// Instead of a blocking query between attempts: it asks again and again.
void foreign_locker::acquire() {
  put("acquire", [this](const reply& found) {
    const bool is_granted = found && found->status == 200 && found->body == "true";
    if (is_granted && may_act()) return hold(election_ + "/.lock");
    later(dice_.spread(10ms, 500ms), [this] { acquire(); });
  });
}

void foreign_locker::release() {
  put("release", [this](const reply&) { over(); });
}

}  // namespace tenure::shell
