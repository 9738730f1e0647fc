#include "net/server_listener.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/listening_socket.hpp"
#include "net/response_text.hpp"
#include "net/server_loop.hpp"

namespace tenure::net {
namespace {

/// Clients that are accepted before it is the turn of those that are there.
constexpr int most_accepts = 32;
/// Pause before the next accept if the process has no descriptor left.
constexpr std::chrono::milliseconds accept_pause{100};
/// So much for one client is a matter of course; with more, all are looked at together.
constexpr std::size_t worth_a_look = 64 * 1024;

/// Best effort: who is refused for want of room gets no further attention.
void refuse(const os::unique_fd& client) {
  static const std::string words =
      response_text(to_response({.status = 503,
                                 .code = "too_many_connections",
                                 .message = "all connections of this listener are busy",
                                 .action = "close connections that are not needed, and try again"}),
                    {.last = true}, std::time(nullptr));
  ::send(client.get(), words.data(), words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

server_listener::server_listener(server_loop& loop, os::unique_fd socket,
                                 std::optional<unix_socket> file,
                                 http_server::deferring_handler handler, const http_limits& granted,
                                 traffic* count)
    : answer(std::move(handler)),
      limits(granted),
      counted(count != nullptr ? *count : uncounted_),
      loop_(loop),
      socket_(std::move(socket)),
      file_(std::move(file)) {
  loop_.watch(socket_.get(), EPOLLIN, *this);
}

void server_listener::ready(std::uint32_t) {
  for (int count = 0; count < most_accepts; ++count) {
    auto client = accept_client(socket_.get());
    if (!client) {
      if (client.error() == EAGAIN || client.error() == ECONNABORTED) return;
      loop_.change(socket_.get(), 0, *this);
      paused_until = loop_.now() + accept_pause;
      return;
    }
    if (!make_room()) {
      counted.refused();
      refuse(*client);
      continue;
    }
    auto peer = file_ ? peer_of(client->get()) : std::nullopt;
    std::string network = network_of(client->get());
    const auto which = connections.emplace(connections.end(), loop_, *this, std::move(*client),
                                           peer, std::move(network));
    which->begin(which);
  }
}

/// True if one more client may come: another gives way, if it must.
bool server_listener::make_room() {
  if (connections.size() < limits.connections) return true;
  std::map<std::string_view, std::size_t> shares;
  for (const server_connection& one : connections) ++shares[one.network()];
  // The first of the largest, which is the one that has waited longest.
  const auto victim =
      std::ranges::max_element(connections, {}, [&shares](const server_connection& one) {
        const bool needed = one.worth_now() == server_connection::worth::needed;
        return std::pair(needed ? 0 : shares[one.network()], one.worth_now());
      });
  if (victim->worth_now() == server_connection::worth::needed) return false;
  victim->close();
  return true;
}

void server_listener::bound_unread(const server_connection& answered) {
  if (answered.unread() <= worth_a_look) return;
  std::size_t total = 0;
  for (const server_connection& one : connections) total += one.unread();
  std::vector<server_connection*> others;
  for (server_connection& one : connections) {
    if (one.unread() > 0 && &one != &answered) others.push_back(&one);
  }
  for (server_connection* const one : others) {
    if (total <= limits.unread_bytes) return;
    total -= one->unread();
    one->close();
  }
}

void server_listener::resume() {
  paused_until = core::never;
  loop_.change(socket_.get(), EPOLLIN, *this);
}

void server_listener::close() {
  paused_until = core::never;
  // The name goes first: whoever finds it may expect an answer.
  file_.reset();
  loop_.unwatch(socket_.get());
  socket_.reset();
}

}  // namespace tenure::net
