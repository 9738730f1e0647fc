#include "stores/kubernetes/lease_stream.hpp"

#include <utility>

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
    : cluster_(through), on_(std::move(on)) {
  stream_ = cluster_.stream(
      get(what), deadline,
      {.head = [this](const http::reply_head& came) { head(came); },
       .data = [this](std::string_view piece) { data(piece); },
       .ended = [this](std::optional<http::client_error> why) { ended(std::move(why)); }});
}

lease_stream::~lease_stream() = default;

void lease_stream::pause(core::duration how_long) {
  stream_->pause(how_long);
}

void lease_stream::head(const http::reply_head& what) {
  status_ = what.status;
  if (!is_confirmed()) return;
  const auto confirmed = on_.confirmed;  // It may destroy us.
  confirmed(*this);
}

void lease_stream::data(std::string_view piece) {
  if (!is_confirmed()) return refused(piece);
  const auto documents = documents_.feed(piece);
  if (!documents) return end({.why = cluster_.present() + ": " + documents.error().why});
  std::vector<watch_event> events;
  std::optional<call_failure> failure;
  for (const std::string& document : *documents) {
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
  shows(*this, events, piece.size());
  if (failure && !alive.expired()) end(*failure);
}

void lease_stream::ended(std::optional<http::client_error> why) {
  if (why) return end({.why = std::move(why->text)});
  if (!is_confirmed()) return refused({});
  // The server ends each watch some time.
  end({.meaning = error_meaning::expired, .why = cluster_.present() + " has ended a watch"});
}

void lease_stream::refused(std::string_view body) {
  const reply_error what = cluster_.judge(status_, body);
  if (is_refusal(what.meaning)) cluster_.doubt_token();
  const std::string said = text(what);
  end({.meaning = what.meaning,
       .why = cluster_.present() + " does not let us watch: " +
              (said.empty() ? "it answered " + std::to_string(status_) : said)});
}

void lease_stream::end(const call_failure& why) {
  stream_.reset();
  const auto ended = on_.ended;
  ended(*this, why);
}

}  // namespace tenure::stores::kubernetes
