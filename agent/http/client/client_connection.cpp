#include "http/client/client_connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <string_view>
#include <utility>

#include "core/check.hpp"

namespace tenure::http {
namespace {

namespace asio = boost::asio;

/// The most bytes handed out at once; most replies fit.
constexpr std::size_t read_bytes = 8 * 1024;
/// The most queued for an open request, in addition to what the kernel takes.
constexpr std::size_t most_unsent_bytes = 64 * 1024;

}  // namespace

void client_connection::start(std::function<void()> gone) {
  gone_ = std::move(gone);
  buffer_.resize(read_bytes);
  asio::co_spawn(executor_, read_until_closed(),
                 [self = shared_from_this()](const std::exception_ptr& thrown) {
                   if (thrown) self->end(std::unexpected("out of memory"));
                 });
}

void client_connection::begin(std::string request, exchange made) {
  TENURE_CHECK(usable() && !current_);
  current_ = std::make_shared<exchange>(std::move(made));
  writing_ = true;
  // Without memory for it nothing is written, and the deadline ends the exchange.
  asio::co_spawn(executor_, write(std::move(request)),
                 [self = shared_from_this()](const std::exception_ptr&) {});
}

void client_connection::add(std::string bytes) {
  if (!open_ || !current_) return;
  if (!writing_) {
    writing_ = true;
    asio::co_spawn(executor_, write(std::move(bytes)),
                   [self = shared_from_this()](const std::exception_ptr&) {});
  } else if (unsent_.size() + bytes.size() <= most_unsent_bytes) {
    unsent_ += bytes;
  } else {
    end(std::unexpected("the server does not read what it is sent"));
  }
}

void client_connection::close() {
  open_ = false;
  gone_ = nullptr;
  current_.reset();
  resting_.cancel();
  stream_->close();
}

asio::awaitable<void> client_connection::write(std::string request) {
  // If the write fails, the read under way fails too and knows why: an alert, a reset, or even a
  // reply that the server sent before it had the whole request.
  while (co_await stream_->write(asio::buffer(request))) {
    request = std::exchange(unsent_, {});
    if (!request.empty()) continue;
    writing_ = false;
    co_return;
  }
}

asio::awaitable<void> client_connection::read_until_closed() {
  while (take(co_await stream_->read_some(asio::buffer(buffer_)))) {
    if (pause_ > core::duration::zero() && !co_await rest()) co_return;
  }
}

/// False if the connection was closed meanwhile.
asio::awaitable<bool> client_connection::rest() {
  resting_.expires_after(std::exchange(pause_, {}));
  co_await resting_.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return open_;
}

/// False: that was the last read.
bool client_connection::take(std::expected<std::size_t, std::string> size) {
  if (!open_) return false;
  // Held here: a handler may close the connection and destroy the exchange.
  const std::shared_ptr<exchange> now = current_;
  if (!now || !size) {
    end(std::unexpected(size ? "the server sent what it was not asked for" : size.error()));
    return false;
  }
  if (*size == 0) {
    auto how = now->reader.end();
    open_ = false;
    end(how ? std::move(how) : std::unexpected("the server failed: " + how.error()));
    return false;
  }
  if (auto good = now->reader.take(std::string_view(buffer_.data(), *size)); !good) {
    end(std::unexpected("the server failed: " + good.error()));
    return false;
  }
  if (now->taken) now->taken(now->reader);
  if (open_ && current_ == now && now->reader.done()) {
    open_ = !writing_ && now->reader.keeps_connection();
    end({});
  }
  return open_;
}

void client_connection::end(std::expected<void, std::string> how) {
  if (!how || !open_) {
    open_ = false;
    stream_->close();
  }
  const std::shared_ptr<exchange> last = std::exchange(current_, nullptr);
  if (last) {
    last->ended(last->reader, std::move(how));
  } else if (auto gone = std::exchange(gone_, nullptr); gone) {
    gone();
  }
}

}  // namespace tenure::http
