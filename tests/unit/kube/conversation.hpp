#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kube/traffic_switch.hpp"

namespace tenure::kube::test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using kind = traffic_wish::kind;

inline traffic_wish standby() {
  return {.what = kind::standby};
}
inline traffic_wish gaining(std::uint64_t version) {
  return {.what = kind::gaining, .version = core::version{version}};
}
inline traffic_wish active(std::uint64_t version) {
  return {.what = kind::active, .version = core::version{version}};
}

/// An object as the API server shows it.
inline marked_object object(const std::string& name, named who = named::nobody,
                            std::uint64_t version = 0) {
  return {.name = name,
          .uid = "uid-" + name,
          .resource_version = "1",
          .who = who,
          .version = core::version{version}};
}

/// "list", "list db", "read db-0", "write db-0: us 7"
inline std::string text(const traffic_request& what) {
  switch (what.what) {
    case traffic_request::kind::list:
      return what.object.empty() ? "list" : "list " + what.object;
    case traffic_request::kind::read:
      return "read " + what.object;
    case traffic_request::kind::write:
      break;
  }
  return "write " + what.object + ": " + (what.names_us ? "us " : "nobody ") +
         std::to_string(core::number(what.version));
}

struct to_text {
  std::string operator()(const notice::led_astray& n) const {
    std::string out = "led astray by";
    for (const marked_object& one : n.by) out += " " + one.name;
    return n.by.empty() ? "led astray no more" : out;
  }
  std::string operator()(const notice::named_us& n) const {
    return (n.again ? "named again " : "named ") + std::to_string(core::number(n.version));
  }
  std::string operator()(const notice::not_named&) const { return "not named"; }
  std::string operator()(const notice::works_again&) const { return "works again"; }
  std::string operator()(const notice::failed& n) const { return "failed: " + n.why.why; }
  std::string operator()(const notice::overtaken& n) const {
    return "overtaken: " + n.object + " has " + std::to_string(core::number(n.by));
  }
};

/// A conversation with a switch, in which the test is the election, the API server and the clock.
class conversation {
 public:
  using texts = std::vector<std::string>;

  explicit conversation(traffic_places where) : switch_(std::move(where)) {}

  void want(const traffic_wish& what) {
    traffic_effects out;
    switch_.want(what, out);
    take(std::move(out));
  }
  /// Time passes up to the next wake.
  void wake() {
    now_ = std::max(now_, switch_.next_wake());
    traffic_effects out;
    switch_.woke(now(), out);
    take(std::move(out));
  }
  /// Answers the oldest request.
  void reply(std::vector<marked_object> what) { reply_to(0, std::move(what)); }
  /// Answers the one at this place.
  void reply_to(std::size_t at, std::vector<marked_object> what) {
    answer(at, traffic_reply(std::move(what)));
  }
  /// The oldest request, a write, is carried out.
  void done() { reply({written()}); }
  void refuse(api_refusal what, const std::string& why = "no", std::size_t at = 0) {
    answer(at, std::unexpected(api_failure{.what = what, .why = why}));
  }
  /// The reply to an earlier request arrives now.
  void late(const traffic_request& to, std::vector<marked_object> what) {
    traffic_effects out;
    switch_.replied(now(), to.number, std::move(what), out);
    take(std::move(out));
  }

  /// The requests since the last call.
  texts asked() {
    texts out;
    for (; asked_until_ < all_.size(); ++asked_until_) out.push_back(text(all_[asked_until_]));
    return out;
  }
  /// The notices since the last call.
  texts said() { return std::exchange(said_, {}); }
  [[nodiscard]] const traffic_request& oldest() const { return open_.front(); }
  [[nodiscard]] std::size_t unanswered() const { return open_.size(); }
  /// Until the switch has to be woken.
  [[nodiscard]] core::duration pause() const { return switch_.next_wake() - now_; }
  [[nodiscard]] bool never_wakes() const { return switch_.next_wake() == core::never; }
  [[nodiscard]] bool is_named() const { return switch_.is_named(); }
  [[nodiscard]] bool is_settled() const { return switch_.is_settled(); }
  [[nodiscard]] std::uint32_t failures() const { return failures_; }

 private:
  [[nodiscard]] core::moment now() { return {.now = now_, .entropy = ++entropy_}; }

  [[nodiscard]] marked_object written() const {
    marked_object out = open_.front().seen;
    out.resource_version += "+";
    out.who = open_.front().names_us ? named::us : named::nobody;
    out.version = open_.front().version;
    out.is_complete = true;
    out.is_listed = true;
    return out;
  }
  void answer(std::size_t at, traffic_reply what) {
    const std::uint64_t number = open_.at(at).number;
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
    traffic_effects out;
    switch_.replied(now(), number, std::move(what), out);
    take(std::move(out));
  }
  void take(traffic_effects out) {
    failures_ += out.failures;
    for (const traffic_request& one : out.requests) {
      all_.push_back(one);
      open_.push_back(one);
    }
    for (const traffic_notice& one : out.notices) said_.push_back(std::visit(to_text(), one));
  }

  traffic_switch switch_;
  core::time_point now_{};
  std::uint64_t entropy_ = 0;
  std::vector<traffic_request> all_;
  std::vector<traffic_request> open_;
  std::size_t asked_until_ = 0;
  texts said_;
  std::uint32_t failures_ = 0;
};

}  // namespace tenure::kube::test
