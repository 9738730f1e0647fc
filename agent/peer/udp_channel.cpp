#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/token_bucket.hpp"
#include "peer/channel.hpp"
#include "peer/word_codec.hpp"
#include "settings/endpoint.hpp"

namespace tenure::peer {
namespace {

using boost::asio::ip::udp;
using boost::system::error_code;

/// A member is told one word for each hand-over in which it comes next.
constexpr std::int64_t most_at_once = 256;
constexpr std::int64_t most_in_a_second = 512;

/// "ADDRESS:PORT", as `settings::text` writes it; nothing if it is not that.
std::optional<udp::endpoint> endpoint_of(std::string_view text) {
  const auto at = settings::parse_endpoint(text, 0, settings::scheme::assumed_http);
  if (!at || at->port == 0) return {};
  error_code failed;
  const auto address = boost::asio::ip::make_address(at->host, failed);
  return failed ? std::nullopt : std::optional(udp::endpoint(address, at->port));
}

class udp_channel final : public channel {
 public:
  udp_channel(http::asio_loop& on, udp::socket bound, handler heard)
      : socket_(std::make_shared<state>(on, std::move(bound), std::move(heard))) {
    socket_->receive();
  }
  ~udp_channel() override {
    error_code ignored;
    socket_->is_closed = true;
    socket_->socket.close(ignored);
  }
  udp_channel(const udp_channel&) = delete;
  udp_channel& operator=(const udp_channel&) = delete;

  [[nodiscard]] std::string address() const override {
    error_code ignored;
    const udp::endpoint at = socket_->socket.local_endpoint(ignored);
    return settings::text(
        settings::listen_address{.host = at.address().to_string(), .port = at.port()});
  }

  void tell(const std::string& to, const core::word& what) override {
    const auto where = endpoint_of(to);
    if (!where) return;
    // A full buffer or an address that cannot be reached: the store tells.
    error_code ignored;
    socket_->socket.send_to(boost::asio::buffer(encode(what)), *where, 0, ignored);
  }

 private:
  /// Lives until the last reception has been cancelled.
  struct state : std::enable_shared_from_this<state> {
    state(http::asio_loop& on, udp::socket bound, handler to)
        : loop(on), socket(std::move(bound)), heard(std::move(to)) {}

    void receive() {
      socket.async_receive_from(
          boost::asio::buffer(datagram), from,
          [self = shared_from_this()](const error_code& failed, std::size_t size) {
            if (self->is_closed) return;
            if (!failed) self->received(size);
            if (!self->is_closed) self->receive();
          });
    }

    void received(std::size_t size) {
      // Junk takes no token from words.
      const auto what = decode({datagram.data(), size});
      if (what && rate.admits(loop.now())) heard(*what);
    }

    http::asio_loop& loop;
    udp::socket socket;
    const handler heard;
    bool is_closed = false;  ///< also from within `heard`
    udp::endpoint from;
    core::token_bucket rate{most_at_once, most_in_a_second};
    /// One byte more: what is longer is not a word.
    std::array<char, most_word_bytes + 1> datagram{};
  };

  std::shared_ptr<state> socket_;
};

}  // namespace

std::expected<std::unique_ptr<channel>, std::string> open_udp_channel(
    http::asio_loop& on, const settings::listen_address& at, channel::handler heard) {
  error_code failed;
  const auto address = boost::asio::ip::make_address(at.host, failed);
  udp::socket bound(on.executor());
  const udp::endpoint where(address, at.port);
  if (!failed) bound.open(where.protocol(), failed);
  if (!failed) bound.bind(where, failed);
  if (!failed) bound.non_blocking(true, failed);
  if (failed) return std::unexpected(settings::text(at) + ": " + failed.message());
  return std::make_unique<udp_channel>(on, std::move(bound), std::move(heard));
}

}  // namespace tenure::peer
