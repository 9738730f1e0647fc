#include "http/server/server_listener.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "http/server/listening_socket.hpp"
#include "http/server/response_text.hpp"
#include "http/server/server_thread.hpp"

namespace tenure::http {
namespace {

/// Clients accepted in one turn, before the present ones are served again.
constexpr int most_accepts = 32;
/// Pause before the next accept if the process has run out of descriptors.
constexpr std::chrono::milliseconds accept_pause{100};
/// Unread bytes of one client up to which no check is needed; beyond, all clients are added up.
constexpr std::size_t worth_a_look = 64 * 1024;

/// Best effort: a client that is refused for lack of room gets no further attention.
void refuse(const base::unique_fd& client) {
  static const std::string words =
      response_text(to_response({.status = 503,
                                 .code = "too_many_connections",
                                 .message = "all connections of this listener are busy",
                                 .action = "close connections that are not needed, and try again"}),
                    {.last = true}, std::time(nullptr));
  ::send(client.get(), words.data(), words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

server_listener::server_listener(server_thread& on, base::unique_fd socket,
                                 std::optional<unix_socket> file,
                                 http_server::deferring_handler handler, const http_limits& limits,
                                 traffic* count)
    : answer(std::move(handler)),
      group(limits, count != nullptr ? *count : uncounted_),
      on_(on),
      acceptor_(on.executor(), boost::asio::generic::stream_protocol(AF_INET, IPPROTO_TCP),
                socket.release()),
      file_(std::move(file)),
      pause_(on.loop()) {}

void server_listener::start() {
  acceptor_.async_wait(acceptor::wait_read, [this](const boost::system::error_code& error) {
    if (!error) accept();
  });
}

void server_listener::accept() {
  for (int count = 0; count < most_accepts; ++count) {
    // Not Asio's `accept`, which does not set SOCK_CLOEXEC.
    auto client = accept_client(acceptor_.native_handle());
    if (!client) {
      if (client.error() == EAGAIN || client.error() == ECONNABORTED) break;
      return pause_.after(accept_pause, [this] { start(); });
    }
    if (!make_room()) {
      group.counted.refused();
      refuse(*client);
      continue;
    }
    auto peer = file_ ? peer_of(client->get()) : std::nullopt;
    std::string network = network_of(client->get());
    const auto which = clients.insert(
        clients.end(), std::make_shared<connection_driver>(on_, *this, std::move(*client), peer,
                                                           std::move(network)));
    (*which)->start(which);
  }
  start();
}

/// True if one more client may connect; closes another connection for it if necessary.
bool server_listener::make_room() {
  if (group.connections < group.limits.connections) return true;
  std::map<std::string_view, std::size_t> shares;
  for (const auto& one : clients) {
    if (!one->connection().is_reader()) ++shares[one->network()];
  }
  // From the network with the largest share: the connection worth the least that has waited
  // longest.
  constexpr auto newest = std::numeric_limits<std::uint64_t>::max();
  const auto loss = [&shares](const std::shared_ptr<connection_driver>& one) {
    const server_connection& c = one->connection();
    const bool stays = c.is_reader() || c.worth_now() == server_connection::worth::needed;
    return std::tuple(stays ? 0 : shares[one->network()], c.worth_now(), newest - c.rank());
  };
  const auto victim = *std::ranges::max_element(clients, {}, loss);
  if (std::get<0>(loss(victim)) == 0) return false;
  victim->drop();
  return true;
}

void server_listener::bound_unread(const connection_driver& answered) {
  if (answered.connection().unsent_bytes() <= worth_a_look) return;
  std::size_t total = 0;
  std::vector<std::shared_ptr<connection_driver>> others;
  for (const auto& one : clients) {
    const std::size_t unread = one->connection().unsent_bytes();
    if (unread == 0 || one->connection().is_reader()) continue;
    total += unread;
    if (one.get() != &answered) others.push_back(one);
  }
  std::ranges::sort(others, {}, [](const auto& one) { return one->connection().rank(); });
  for (const auto& one : others) {
    if (total <= group.limits.unread_bytes) return;
    total -= one->connection().unsent_bytes();
    one->drop();
  }
}

void server_listener::keep_date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_of_) group.date = date_text(date_of_ = now);
}

void server_listener::forget(connection_driver::owner::iterator which) {
  clients.erase(which);
  on_.end_if_done();
}

void server_listener::close() {
  pause_.cancel();
  // The name first: a client that finds it may expect an answer.
  file_.reset();
  // As in `connection_driver::close`.
  boost::system::error_code ignored;
  base::unique_fd(acceptor_.release(ignored)).reset();
}

}  // namespace tenure::http
