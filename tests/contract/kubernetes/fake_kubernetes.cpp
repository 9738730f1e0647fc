#include "fake_kubernetes.hpp"

#include <utility>

namespace tenure::tests {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds between_looks{2};

std::string kubernetes_name_of(const std::string& request) {
  return lease_model::name_of(method_of(request), target_of(request));
}

}  // namespace

fake_kubernetes::fake_kubernetes()
    : http_([this](peer& to, const std::string& request) { answer_as_kubernetes(to, request); },
            kubernetes_name_of) {}

void fake_kubernetes::change(const std::string& name, const std::function<void(json&)>& by) {
  http_.on(name, [this, by](peer& to, const std::string& request) {
    reply what = truth(request);
    if (what.status == 200 || what.status == 201) by(what.body);
    say(to, what);
  });
}

void fake_kubernetes::repent() {
  for (const char* name : {"version", "try", "list", "watch", "get", "create", "write", "delete"}) {
    repent(name);
  }
}

void fake_kubernetes::say(peer& to, const reply& what) {
  const std::string text = what.body.dump();
  to.send("HTTP/1.1 " + std::to_string(what.status) +
          " So\r\nContent-Type: application/json\r\nContent-Length: " +
          std::to_string(text.size()) + "\r\n\r\n" + text);
}

void fake_kubernetes::begin_watch(peer& to) {
  to.send(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool fake_kubernetes::show(peer& to, const std::string& text) {
  std::string size(16, '\0');
  size.resize(
      static_cast<std::size_t>(std::snprintf(size.data(), size.size(), "%zx", text.size())));
  return to.send(size + "\r\n" + text + "\r\n");
}

void fake_kubernetes::answer_as_kubernetes(peer& to, const std::string& request) {
  kubernetes_name_of(request) == "watch" ? watch(to, request) : say(to, truth(request));
}

void fake_kubernetes::watch(peer& to, const std::string& request) {
  begin_watch(to);
  watch_on(to, request);
}

void fake_kubernetes::watch_on(peer& to, const std::string& request) {
  const std::string target = target_of(request);
  std::uint64_t known = lease_model::begin_of(target);
  const int ends = ends_;
  while (ends == ends_) {
    for (const lease_model::event& one : events_after(known, target)) {
      if (!show(to, one.what.dump() + "\n")) return;
      known = one.version;
    }
    if (to.closed_within(between_looks)) return;
  }
  to.reset();
}

std::vector<lease_model::event> fake_kubernetes::events_after(std::uint64_t version,
                                                              const std::string& target) const {
  const std::lock_guard lock(mutex_);
  return model_.events_after(version, target);
}

fake_kubernetes::reply fake_kubernetes::truth(const std::string& request) {
  const std::lock_guard lock(mutex_);
  return model_.answer(method_of(request), target_of(request), body_in(request));
}

void fake_kubernetes::put(const std::string& name, const json& spec) {
  const std::lock_guard lock(mutex_);
  model_.put(name, spec);
}

void fake_kubernetes::annotate(const std::string& name, const std::string& key,
                               const std::string& value) {
  const std::lock_guard lock(mutex_);
  model_.merge(name, {{"annotations", {{key, value}}}});
}

void fake_kubernetes::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  model_.remove(name);
}

json fake_kubernetes::lease(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return model_.lease(name);
}

std::uint64_t fake_kubernetes::version() const {
  const std::lock_guard lock(mutex_);
  return model_.version();
}

}  // namespace tenure::tests
