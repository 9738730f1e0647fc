#include "cli/client/order_progress.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "cli/text/knowledge.hpp"

namespace tenure::cli {
namespace {

std::string holds(const core::holder& who, const std::string& election) {
  return who.identity + " holds " + election + " now, under version " + text(who.version);
}

/// The newest holder that has appeared since `version`.
const core::holder* successor(const wire::election_report& now, core::version version) {
  const core::holder* out = nullptr;
  for (const core::holder& s : now.holders) {
    if (s.version > version && (out == nullptr || s.version > out->version)) out = &s;
  }
  return out;
}

/// True if another member is there, or may be, to take over.
bool others_campaign(const std::string& me, const wire::election_report& now) {
  if (!now.members) return true;
  return std::ranges::any_of(*now.members, [&me](const wire::member_report& m) {
    return m.identity != me && m.state != "active";
  });
}

class reader {
 public:
  reader(const given_order& order, const wire::election_report& before,
         const wire::election_report& now)
      : order_(order),
        now_(now),
        old_(holder_named(before, order.by)),
        stood_by_(before.holder_known && old_ == nullptr) {}

  order_reading read() const {
    switch (order_.what) {
      case core::order_action::resume:
        return resumed();
      case core::order_action::pause:
        if (is_own() && !now_.paused) return {.text = me() + " is not paused yet"};
        if (is_out_of_sight() && !stood_by_) return whether_it_holds();
        if (still_holds()) return {.text = me() + " is paused, but still gives " + it() + " up"};
        // While the store does not answer, the place can neither be given up nor become a term
        // here.
        if (is_own() && now_.in_line && now_.holder_known) {
          return {.text = me() + " is paused, but still gives its place in line up"};
        }
        return after_pause();
      case core::order_action::resign:
      case core::order_action::transfer:
      case core::order_action::set:
        break;
    }
    if (is_out_of_sight()) return whether_it_holds();
    if (still_holds()) return {.text = me() + " is still giving " + it() + " up"};
    return order_.to.empty() ? handed_to_anybody() : handed_to_heir();
  }

 private:
  const std::string& me() const { return order_.by; }
  bool is_own() const { return me() == now_.identity; }
  const std::string& it() const { return now_.election; }

  /// Only the store could tell whether it holds, and the agent that is asked cannot reach the
  /// store.
  bool is_out_of_sight() const { return !is_own() && !now_.holder_known; }

  order_reading whether_it_holds() const {
    return {.is = progress::not_known,
            .text = "whether " + me() + " still holds " + it() + is_not_known()};
  }

  bool still_holds() const {
    const core::holder* const mine = holder_named(now_, me());
    const bool same = mine != nullptr && old_ != nullptr && mine->version == old_->version;
    if (!is_own()) return same;
    return now_.state == "draining" || same || (mine != nullptr && now_.paused);
  }

  order_reading resumed() const {
    if (!is_own()) {
      return {.is = progress::done, .text = me() + " was told to campaign for " + it() + " again"};
    }
    if (now_.paused) return {.text = me() + " is still paused"};
    if (now_.aside_for_ms) return {.text = me() + " still stands aside"};
    return {.is = progress::done,
            .text = me() + " campaigns for " + it() + " again; " + who_holds()};
  }

  order_reading after_pause() const {
    const std::string paused = me() + (is_own() ? " is paused; " : " was told to pause; ");
    if (old_ == nullptr) return {.is = progress::done, .text = paused + who_holds()};
    order_reading next = handed_to_anybody();
    next.text = paused + next.text;
    return next;
  }

  order_reading handed_to_anybody() const {
    const std::string given = me() + " has given " + it() + " up; ";
    if (!now_.holder_known) return {.is = progress::settled, .text = given + who_holds()};
    if (const core::holder* const next =
            old_ == nullptr ? nullptr : successor(now_, old_->version)) {
      return {.is = progress::done, .text = holds(*next, it())};
    }
    if (!others_campaign(me(), now_)) {
      return {.is = progress::done, .text = given + "no other member campaigns for it"};
    }
    return {.is = progress::settled, .text = given + "nobody has taken it yet"};
  }

  order_reading handed_to_heir() const {
    const std::string given = me() + " has given " + it() + " up; ";
    if (!now_.holder_known) {
      return {.is = progress::not_known,
              .text = given + "whether " + order_.to + " has taken it" + is_not_known()};
    }
    const core::holder* const heir = holder_named(now_, order_.to);
    if (heir != nullptr && (old_ == nullptr || heir->version > old_->version)) {
      return {.is = progress::done, .text = holds(*heir, it())};
    }
    const core::holder* const next = old_ == nullptr ? nullptr : successor(now_, old_->version);
    if (next != nullptr && now_.holders.size() >= now_.slots) {
      return {.is = progress::otherwise, .text = holds(*next, it()) + ", not " + order_.to};
    }
    return {.text = given + order_.to + " has not taken it yet"};
  }

  std::string is_not_known() const { return " is not known: " + why_not_known(now_); }

  std::string who_holds() const {
    if (!now_.holder_known) return "who holds " + it() + " now" + is_not_known();
    return now_.holder ? holds(*now_.holder, it()) : "nobody holds " + it() + " now";
  }

  const given_order& order_;
  const wire::election_report& now_;
  const core::holder* old_;
  bool stood_by_;  ///< when the order was given, it was known to hold nothing
};

}  // namespace

order_reading read_progress(const given_order& order, const wire::election_report& before,
                            const wire::election_report& now) {
  return reader(order, before, now).read();
}

}  // namespace tenure::cli
