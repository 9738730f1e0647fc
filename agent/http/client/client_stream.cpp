#include "http/client/client_stream.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "base/printable_text.hpp"
#include "core/check.hpp"
#include "http/chunk_text.hpp"
#include "http/client/request_text.hpp"

namespace tenure::http {
namespace {

/// How much of a redirect's address is shown.
constexpr std::size_t shown_bytes = 200;

class handle : public http_stream {
 public:
  explicit handle(std::shared_ptr<client_stream> of) : stream_(std::move(of)) {}
  ~handle() override { stream_->stop(); }
  void send(std::string_view more) override { stream_->send(more); }
  void pause(core::duration how_long) override { stream_->pause(how_long); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;

 private:
  std::shared_ptr<client_stream> stream_;
};

}  // namespace

std::optional<std::string> redirect_text(const reply_head& head) {
  switch (head.status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      break;
    default:
      return std::nullopt;
  }
  std::string out = "the server redirects (status " + std::to_string(head.status) + ")";
  const std::string* const location = head.value("Location");
  // A query, or a user in the address, may be a secret.
  if (location != nullptr && !location->contains('@')) {
    out +=
        " to " + base::printable(location->substr(0, location->find_first_of("?#")), shown_bytes);
  }
  return out + ", which is not followed; give the address of the server itself";
}

client_stream::client_stream(const boost::asio::any_io_executor& where,
                             std::shared_ptr<client_route> route, const client_limits& limits,
                             stream_handlers on)
    : executor_(where),
      route_(std::move(route)),
      limits_(limits),
      on_(std::move(on)),
      deadline_(where) {}

void client_stream::start(const client_request& what, core::time_point head_deadline) {
  summary_ = summary(what, route_->server);
  request_ = request_text(what, route_->server);
  is_head_ = what.method == "HEAD";
  is_open_ = what.open;
  if (!request_) {
    boost::asio::post(executor_,
                      [self = shared_from_this()] { self->fail(self->request_.error()); });
    return;
  }
  expire_at(deadline_, head_deadline);
  deadline_.async_wait([noted = weak_from_this()](const boost::system::error_code& error) {
    const auto self = noted.lock();
    if (self && !error) self->too_late();
  });
  dialer_ = std::make_shared<client_dialer>(executor_, route_);
  dialer_->run(head_deadline, [self = shared_from_this()](client_dialer::result reached) {
    self->connected(std::move(reached));
  });
}

void client_stream::connected(client_dialer::result reached) {
  if (over_) return;
  dialer_.reset();
  if (!reached) return fail(reached.error());
  connection_ = std::make_shared<client_connection>(executor_, std::move(*reached));
  connection_->start(nullptr);
  const auto self = shared_from_this();
  connection_->begin(std::move(*request_),
                     {.reader = reply_reader(limits_, reply_reader::form::pieces, is_head_),
                      .taken = [self](reply_reader& reader) { self->taken(reader); },
                      .ended =
                          [self](reply_reader& reader, std::expected<void, std::string> how) {
                            if (!how) return self->fail(std::move(how.error()));
                            self->taken(reader);
                            self->end(std::nullopt);
                          }});
}

void client_stream::taken(reply_reader& reader) {
  if (over_ || !reader.has_head()) return;
  if (!has_head_) {
    has_head_ = true;
    deadline_.cancel();
    const reply_head head = reader.head();
    if (auto redirect = redirect_text(head); redirect) return fail(std::move(*redirect));
    if (on_.head) on_.head(head);
  }
  if (over_) return;
  const std::string piece = reader.take_body();
  if (!piece.empty() && on_.data) on_.data(piece);
}

void client_stream::send(std::string_view more) {
  TENURE_CHECK(is_open_);
  if (over_ || !request_) return;
  // Before the connection exists, this is part of the first bytes to send.
  if (!connection_) return void(request_->append(chunk_text(more)));
  connection_->add(chunk_text(more));
}

void client_stream::pause(core::duration how_long) {
  if (connection_) connection_->pause(how_long);
}

void client_stream::too_late() {
  // The head may have arrived while the timer's call was on its way here.
  if (has_head_) return;
  const std::string doing = dialer_ ? dialer_->doing() : "waiting for the reply";
  if (dialer_) std::exchange(dialer_, nullptr)->give_up();
  fail("no answer in time while " + doing);
}

void client_stream::fail(std::string why) {
  const sending how = connection_ ? sending::in_doubt : sending::not_sent;
  end(client_error{.how = how, .text = summary_ + ": " + std::move(why)});
}

void client_stream::end(std::optional<client_error> how) {
  if (over_) return;
  const auto self = shared_from_this();
  stop();
  if (on_.ended) on_.ended(std::move(how));
}

void client_stream::stop() {
  over_ = true;
  deadline_.cancel();
  if (dialer_) std::exchange(dialer_, nullptr)->stop();
  if (connection_) std::exchange(connection_, nullptr)->close();
}

std::unique_ptr<http_stream> stream_handle(std::shared_ptr<client_stream> of) {
  return std::make_unique<handle>(std::move(of));
}

}  // namespace tenure::http
