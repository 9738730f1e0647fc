#include "http/server/server_thread.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>
#include <vector>

namespace tenure::http {
namespace {

/// Connections that have their turn before sockets are looked at again.
constexpr std::size_t most_workers = 64;
/// The shortest time between two looks that the attendant asks for itself.
constexpr std::chrono::milliseconds attention_step{1};

}  // namespace

server_thread::server_thread()
    : busy_(io_.get_executor()),
      loop_(io_.get_executor()),
      attend_again_(loop_),
      close_all_(loop_) {}

void server_thread::listen(base::unique_fd socket, std::optional<unix_socket> file,
                           http_server::deferring_handler handler, const http_limits& limits,
                           traffic* counted) {
  listeners_.emplace_back(*this, std::move(socket), std::move(file), std::move(handler), limits,
                          counted);
}

void server_thread::run() {
  for (server_listener& l : listeners_) l.start();
  attend();
  io_.run();
}

void server_thread::news() {
  if (has_news_.exchange(true)) return;
  boost::asio::post(io_, [this] {
    // Before the attendant looks: later changes post again.
    has_news_ = false;
    attend();
  });
}

/// Asks the attendant for news, and if there are any, gives every reader its turn.
void server_thread::attend() {
  attend_again_.cancel();
  if (!attend_ || stopping_) return;
  const attention found = attend_();
  if (found.again) {
    attend_again_.after(std::max<core::duration>(*found.again, attention_step),
                        [this] { attend(); });
  }
  if (!found.news) return;
  for (const server_listener& l : listeners_) {
    for (const auto& client : l.clients) {
      if (client->connection().is_reader()) enqueue(*client);
    }
  }
}

void server_thread::enqueue(connection_driver& which) {
  if (std::exchange(which.queued_, true)) return;
  turns_.push_back(which.shared_from_this());
  if (turns_.size() == 1) boost::asio::post(io_, [this] { work(); });
}

/// Calls the connections whose turn it is. One that enqueues itself again comes in a later turn.
void server_thread::work() {
  for (std::size_t left = std::min(turns_.size(), most_workers); left > 0; --left) {
    const auto client = turns_.front();
    client->queued_ = false;
    client->go_on();
    turns_.pop_front();
  }
  if (!turns_.empty()) boost::asio::post(io_, [this] { work(); });
}

// --- the end -----------------------------------------------------------------------------------

void server_thread::end() {
  boost::asio::post(io_, [this] { begin_end(); });
}

std::vector<std::shared_ptr<connection_driver>> server_thread::all_clients() const {
  std::vector<std::shared_ptr<connection_driver>> out;
  for (const server_listener& l : listeners_)
    out.insert(out.end(), l.clients.begin(), l.clients.end());
  return out;
}

void server_thread::begin_end() {
  stopping_ = true;
  attend_again_.cancel();
  close_all_.after(http_server::shutdown_limit, [this] {
    for (const auto& client : all_clients()) client->drop();
  });
  for (server_listener& l : listeners_) {
    l.group.stopping = true;
    l.close();
  }
  for (const auto& client : all_clients()) client->finish();
  end_if_done();
}

void server_thread::end_if_done() {
  const auto is_empty = [](const server_listener& l) { return l.clients.empty(); };
  if (!stopping_ || !std::ranges::all_of(listeners_, is_empty)) return;
  close_all_.cancel();
  busy_.reset();
}

}  // namespace tenure::http
