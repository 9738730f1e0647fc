#include "http/client/client_route.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <utility>

#include "base/boot_time.hpp"
#include "base/error_text.hpp"
#include "http/client/as_values.hpp"
#include "http/tls/tls_stream.hpp"
#include "settings/listen_address.hpp"

namespace tenure::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using any_stream = asio::generic::stream_protocol;
using outcome = std::expected<void, std::string>;

/// A peer that vanishes silently is noticed after about ten seconds: an idle one by probes, one
/// that owes us acknowledgements by the last of these.
constexpr int probe_after_seconds = 4;
constexpr int probe_every_seconds = 2;
constexpr int probes = 3;
constexpr unsigned unacknowledged_ms = 10'000;

constexpr core::duration longest_wait = std::chrono::hours(24);

std::string text(const tcp::endpoint& address) {
  return settings::text(
      settings::listen_address{.host = address.address().to_string(), .port = address.port()});
}

void set(int socket, int level, int name, auto value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

/// Not inherited by the workload, which may outlive the agent; Asio's own sockets are inherited.
outcome open_socket(any_stream::socket& into, const any_stream& protocol) {
  const int fd =
      ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol.protocol());
  if (fd < 0) return std::unexpected(base::error_text(errno));
  if (protocol.family() != AF_UNIX) {
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, probe_after_seconds);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, probe_every_seconds);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, unacknowledged_ms);
  }
  boost::system::error_code error;
  into.assign(protocol, fd, error);
  if (!error) return {};
  ::close(fd);
  return std::unexpected(error_text(error));
}

}  // namespace

void expire_at(asio::steady_timer& timer, core::time_point when) {
  const core::time_point now = base::boot_now();
  timer.expires_after(when <= now ? core::duration::zero()
                                  : std::min(core::duration(when - now), longest_wait));
}

client_dialer::client_dialer(const asio::any_io_executor& where,
                             std::shared_ptr<client_route> route)
    : executor_(where), route_(std::move(route)), timer_(where), socket_(where) {}

void client_dialer::run(core::time_point deadline, std::move_only_function<void(result)> done) {
  done_ = std::move(done);
  // The coroutine starts within co_spawn. Posted, so that it cannot end within this call.
  asio::post(executor_, [self = shared_from_this(), deadline] {
    if (self->stopped_) return;
    asio::co_spawn(self->executor_, self->dial(deadline),
                   [self](const std::exception_ptr& thrown, result reached) {
                     if (self->stopped_) return;
                     if (thrown) reached = std::unexpected("out of memory or descriptors");
                     std::exchange(self->done_, nullptr)(std::move(reached));
                   });
  });
}

void client_dialer::stop() {
  stopped_ = true;
  done_ = nullptr;
  timer_.cancel();
  drop();
}

void client_dialer::give_up() {
  stop();
  route_->addresses.refresh();
}

void client_dialer::drop() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  if (stream_) stream_->close();
}

asio::awaitable<client_dialer::result> client_dialer::dial(core::time_point deadline) {
  if (!route_->server.socket_path.empty()) co_return co_await dial_socket(deadline);
  if (auto learned = co_await learn_addresses(deadline); !learned) {
    co_return std::unexpected(std::move(learned.error()));
  }
  const std::vector<tcp::endpoint> candidates = route_->addresses.known();
  std::string failures;
  for (std::size_t i = 0; i < candidates.size() && !stopped_; ++i) {
    const core::time_point now = base::boot_now();
    if (now >= deadline) break;
    const auto left = static_cast<core::duration::rep>(candidates.size() - i);
    // The last address gets all the time that is left; "never" must not be computed with.
    const core::time_point until = left == 1 ? deadline : now + (deadline - now) / left;
    result reached = co_await reach(candidates[i], text(candidates[i]), until);
    if (reached) {
      route_->addresses.prefer(candidates[i]);
      co_return reached;
    }
    failures += (failures.empty() ? "" : "; ") + text(candidates[i]) + ": " + reached.error();
  }
  // The name may have moved: a new look-up serves the next attempt.
  if (!stopped_) route_->addresses.refresh();
  if (failures.empty()) co_return std::unexpected("there was no time left to connect");
  co_return std::unexpected("cannot connect: " + failures +
                            "; is the server running, and reachable from here?");
}

asio::awaitable<client_dialer::result> client_dialer::dial_socket(core::time_point deadline) {
  const std::string named = settings::text(route_->server);
  const asio::local::stream_protocol::endpoint address(route_->server.socket_path);
  result reached = co_await reach(address, named, deadline);
  if (reached) co_return reached;
  co_return std::unexpected("cannot connect to " + named + ": " + reached.error() +
                            "; does the server listen there, and may this user open it?");
}

asio::awaitable<outcome> client_dialer::learn_addresses(core::time_point deadline) {
  host_addresses& addresses = route_->addresses;
  if (!addresses.known().empty()) co_return outcome();
  doing_ = "looking up the name " + route_->server.host;
  addresses.refresh();
  if (addresses.refreshing()) {
    expire_at(timer_, deadline);
    addresses.when_refreshed([noted = weak_from_this()] {
      if (const auto self = noted.lock()) self->timer_.cancel();
    });
    co_await timer_.async_wait(as_values);
  }
  if (!addresses.known().empty()) co_return outcome();
  const std::string why =
      addresses.refreshing() ? "the name service does not answer in time" : addresses.failure();
  co_return std::unexpected("the name " + route_->server.host + " cannot be looked up: " + why +
                            "; check the host's name and the DNS settings");
}

asio::awaitable<client_dialer::result> client_dialer::reach(any_stream::endpoint address,
                                                            std::string named,
                                                            core::time_point until) {
  bool late = false;
  expire_at(timer_, until);
  timer_.async_wait([this, self = shared_from_this(), &late,
                     mine = ++round_](const boost::system::error_code& error) {
    // A wait that was canceled too late completes without an error; `late` is gone by then.
    if (error || mine != round_) return;
    late = true;
    drop();
  });
  result reached = co_await connect(address, std::move(named));
  if (reached) reached = co_await secure();
  ++round_;
  timer_.cancel();
  if (!reached) {
    drop();
    stream_.reset();
    if (late) co_return std::unexpected("no answer in time while " + doing_);
  } else if (late) {
    co_return std::unexpected("no answer in time");
  }
  co_return reached;
}

asio::awaitable<client_dialer::result> client_dialer::connect(any_stream::endpoint address,
                                                              std::string named) {
  doing_ = "connecting to " + named;
  if (auto opened = open_socket(socket_, address.protocol()); !opened) {
    co_return std::unexpected(std::move(opened.error()));
  }
  const auto [error] = co_await socket_.async_connect(address, as_values);
  if (stopped_) co_return std::unexpected("stopped");
  if (error) co_return std::unexpected(error_text(error));
  if (!route_->server.tls) {
    stream_ = make_plain_stream(std::move(socket_));
    co_return stream_;
  }
  auto context = route_->secrets.current();
  if (!context) co_return std::unexpected(std::move(context.error()));
  const tls_settings& settings = route_->secrets.settings();
  const std::string& name =
      settings.server_name.empty() ? route_->server.host : settings.server_name;
  stream_ =
      make_tls_stream(std::move(socket_), std::move(*context), name, settings.has_certificate());
  doing_ = "the TLS handshake with " + named;
  co_return stream_;
}

asio::awaitable<client_dialer::result> client_dialer::secure() {
  const std::shared_ptr<byte_stream> stream = stream_;
  auto ready = co_await stream->handshake();
  if (ready) co_return std::exchange(stream_, nullptr);
  const std::string& problem = route_->secrets.problem();
  co_return std::unexpected(ready.error() + (problem.empty() ? "" : "; besides, " + problem));
}

}  // namespace tenure::http
