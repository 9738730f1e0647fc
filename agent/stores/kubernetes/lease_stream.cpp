#include "stores/kubernetes/lease_stream.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace tenure::stores::kubernetes {
namespace {

request get(const watch_request& of) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(of.lasts).count();
  return {.path = of.path,
          .query = of.selector + (of.selector.empty() ? "" : "&") +
                   "watch=true&allowWatchBookmarks=true&resourceVersion=" +
                   std::to_string(of.version) + "&timeoutSeconds=" + std::to_string(seconds)};
}

}  // namespace

lease_stream::lease_stream(cluster& through, const watch_request& what, core::time_point deadline,
                           handlers on)
    : cluster_(through),
      on_(std::move(on)),
      stream_(through, get(what), deadline,
              {.confirmed =
                   [this] {
                     const auto confirmed = on_.confirmed;  // It may destroy us.
                     confirmed(*this);
                   },
               .shows = [this](std::span<const std::string> documents,
                               std::size_t bytes) { take(documents, bytes); },
               .ended =
                   [this](const call_failure& why) {
                     const auto ended = on_.ended;
                     ended(*this, why);
                   }}) {}

lease_stream::~lease_stream() = default;

void lease_stream::take(std::span<const std::string> documents, std::size_t bytes) {
  std::vector<watch_event> events;
  std::optional<call_failure> failure;
  for (const std::string& document : documents) {
    auto event = parse_event(document);
    if (!event) {
      failure = {.why = cluster_.present() + ": " + event.error().why};
    } else if (event->what == watch_event::type::error) {
      const bool is_old = event->error.code == 410;
      failure = {.meaning = is_old ? error_meaning::expired : error_meaning::unknown,
                 .why = cluster_.present() + " has ended a watch: " + event->error.message};
    }
    if (failure) break;
    events.push_back(std::move(*event));
  }
  const std::weak_ptr alive = alive_;
  const auto shows = on_.shows;
  shows(*this, events, bytes);
  if (failure && !alive.expired()) stream_.end(*failure);
}

}  // namespace tenure::stores::kubernetes
