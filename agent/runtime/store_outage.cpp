#include "runtime/store_outage.hpp"

#include <utility>

namespace tenure::runtime {
namespace {

unsigned bit(store_request what) {
  return 1U << static_cast<unsigned>(what);
}

/// The failures that the success of this request ends. Without this, requests that are no longer
/// made would count as failing for ever.
unsigned answered_by(store_request what, unsigned failing) {
  constexpr unsigned everything = ~0U;
  switch (what) {
    case store_request::renewal:
      return bit(store_request::renewal);
    case store_request::release:
      return bit(store_request::renewal) | bit(store_request::release);
    case store_request::acquire:
      return everything & ~bit(store_request::watch);
    case store_request::watch:
      // An open watch shows news, but says nothing of other requests that fail meanwhile.
      return (failing & bit(store_request::watch)) != 0 ? everything : 0;
  }
  return 0;
}

}  // namespace

const char* name(store_request what) {
  switch (what) {
    case store_request::acquire:
      return "campaign";
    case store_request::renewal:
      return "renewal";
    case store_request::release:
      return "release";
    case store_request::watch:
      return "watch";
  }
  return "";
}

bool store_outage::failed(store_request what, const std::string& why, core::time_point now) {
  const bool first = std::exchange(failing_, failing_ | bit(what)) == 0;
  if (first) {
    since_ = now;
    pause_ = first_pause;
  } else if (why == told_ || now < tell_next_) {
    return false;
  } else {
    pause_ *= 2;
  }
  told_ = why;
  tell_next_ = now + pause_;
  return true;
}

std::optional<core::duration> store_outage::done(store_request what, core::time_point now) {
  const unsigned before = std::exchange(failing_, failing_ & ~answered_by(what, failing_));
  if (before == 0 || failing_ != 0) return std::nullopt;
  return now - since_;
}

}  // namespace tenure::runtime
