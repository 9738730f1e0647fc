#include "stores/kubernetes/document_stream.hpp"

#include <utility>

namespace tenure::stores::kubernetes {

document_stream::document_stream(cluster& through, const request& what, core::time_point deadline,
                                 handlers on, int most_levels)
    : cluster_(through), on_(std::move(on)), documents_(most_levels) {
  stream_ = cluster_.stream(
      what, deadline,
      {.head = [this](const http::reply_head& came) { head(came); },
       .data = [this](std::string_view piece) { data(piece); },
       .ended = [this](std::optional<http::client_error> why) { ended(std::move(why)); }});
}

document_stream::~document_stream() = default;

void document_stream::pause(core::duration how_long) {
  stream_->pause(how_long);
}

// A handler may destroy us, so each is copied before it is called.

void document_stream::head(const http::reply_head& what) {
  status_ = what.status;
  if (!is_confirmed()) return;
  const auto confirmed = on_.confirmed;
  confirmed();
}

void document_stream::data(std::string_view piece) {
  if (!is_confirmed()) return refused(piece);
  const auto documents = documents_.feed(piece);
  if (!documents) return end({.why = cluster_.present() + ": " + documents.error().why});
  const auto shows = on_.shows;
  shows(*documents, piece.size());
}

void document_stream::ended(std::optional<http::client_error> why) {
  if (why) return end({.why = std::move(why->text)});
  if (!is_confirmed()) return refused({});
  // The server ends each watch some time.
  end({.meaning = error_meaning::expired, .why = cluster_.present() + " has ended a watch"});
}

void document_stream::refused(std::string_view body) {
  const reply_error what = cluster_.judge(status_, body);
  if (is_refusal(what.meaning)) cluster_.doubt_token();
  const std::string said = text(what);
  end({.meaning = what.meaning,
       .why = cluster_.present() + " does not let us watch: " +
              (said.empty() ? "it answered " + std::to_string(status_) : said)});
}

void document_stream::end(const call_failure& why) {
  stream_.reset();
  const auto ended = on_.ended;
  ended(why);
}

}  // namespace tenure::stores::kubernetes
