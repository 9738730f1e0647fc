#include "http/server/http_server.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "core/check.hpp"
#include "http/server/listening_socket.hpp"
#include "http/server/server_thread.hpp"
#include "http/server/unix_socket.hpp"

namespace tenure::http {

struct http_server::state {
  server_thread inside;
  std::thread thread;
  bool was_started = false;
};

http_server::http_server() : state_(std::make_unique<state>()) {}

http_server::~http_server() {
  shutdown();
}

std::expected<settings::listen_address, listen_error> http_server::listen_on(
    const settings::listen_address& where, handler answer, http_limits limits, traffic* counted) {
  TENURE_CHECK(answer);
  return listen_on(
      where,
      deferring_handler([answer = std::move(answer)](const request& asked, responder respond) {
        respond(answer(asked));
      }),
      limits, counted);
}

std::expected<settings::listen_address, listen_error> http_server::listen_on(
    const settings::listen_address& where, deferring_handler answer, http_limits limits,
    traffic* counted) {
  TENURE_CHECK(answer && limits.connections > 0 && !state_->thread.joinable());
  auto socket = open_listening_socket(where);
  if (!socket) return std::unexpected(std::move(socket.error()));
  state_->inside.listen(std::move(socket->fd), std::nullopt, std::move(answer), limits, counted);
  return socket->bound;
}

std::expected<void, listen_error> http_server::listen_on_path(const std::string& path,
                                                              deferring_handler answer,
                                                              http_limits limits,
                                                              traffic* counted) {
  TENURE_CHECK(answer && limits.connections > 0 && !state_->thread.joinable());
  auto socket = unix_socket::open(path);
  if (!socket) return std::unexpected(std::move(socket.error()));
  base::unique_fd listening = socket->take();
  state_->inside.listen(std::move(listening), std::move(*socket), std::move(answer), limits,
                        counted);
  return {};
}

void http_server::attend_with(std::function<attention()> attend) {
  TENURE_CHECK(!state_->thread.joinable());
  state_->inside.attend_with(std::move(attend));
}

void http_server::news() {
  state_->inside.news();
}

std::expected<void, std::string> http_server::start() {
  TENURE_CHECK(!std::exchange(state_->was_started, true));
  // Signals are for the threads that handle them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::expected<void, std::string> started;
  try {
    state_->thread = std::thread([s = state_.get()] {
      ::pthread_setname_np(::pthread_self(), "tenure-http");
      s->inside.run();
    });
  } catch (const std::system_error& error) {
    started = std::unexpected("cannot start the serving thread: " + std::string(error.what()) +
                              "; is the limit of processes (pids) reached?");
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void http_server::shutdown() {
  if (!state_->thread.joinable()) return;
  state_->inside.end();
  state_->thread.join();
}

}  // namespace tenure::http
