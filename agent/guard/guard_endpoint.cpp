#include "guard/guard_endpoint.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <utility>

#include "guard/guard_protocol.hpp"
#include "guard/orphans.hpp"
#include "guard/shared_page.hpp"
#include "guard/worker_page.hpp"
#include "process/pidfd.hpp"

namespace tenure::guard {
namespace asio = boost::asio;
namespace {

using error_code = boost::system::error_code;
using asio::posix::descriptor_base;

/// A SOCK_SEQPACKET socket on Asio's loop.
class seqpacket_connection final : public guard_connection {
 public:
  seqpacket_connection(const asio::any_io_executor& executor, base::unique_fd socket)
      : self_(std::make_shared<state>(executor, std::move(socket))) {}

  ~seqpacket_connection() override { shut(); }
  seqpacket_connection(const seqpacket_connection&) = delete;
  seqpacket_connection& operator=(const seqpacket_connection&) = delete;

  void open(handlers on) override {
    self_->on = std::move(on);
    self_->read();
  }

  void close() override { shut(); }

  bool send(std::span<const std::byte> packet) override {
    const ssize_t sent = ::send(self_->socket.native_handle(), packet.data(), packet.size(),
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return true;
    // The guard takes nothing any more, which reading will show.
    if (errno == EPIPE || errno == ECONNRESET) return false;
    if (errno != EAGAIN && errno != ENOBUFS) return true;
    self_->await_room();
    return false;
  }

 private:
  void shut() {
    self_->closed = true;
    error_code ignored;
    static_cast<void>(self_->socket.close(ignored));
  }

  /// Outlives the connection while one of its handlers is called.
  struct state : std::enable_shared_from_this<state> {
    state(const asio::any_io_executor& executor, base::unique_fd fd)
        : socket(executor, fd.release()) {}

    void read() {
      socket.async_wait(descriptor_base::wait_read, [self = shared_from_this()](error_code failed) {
        if (!failed && !self->closed) self->take_packets();
      });
    }

    void take_packets() {
      alignas(8) std::array<std::byte, max_message_bytes> buffer;
      while (!closed) {
        const ssize_t got =
            ::recv(socket.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return read();
        // ECONNRESET: the guard has ended without reading all of our packets. The kernel says so
        // once, and before it hands out those that the guard has sent.
        if (got < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
        if (got <= 0) return on.hung_up();
        on.packet(std::span(buffer).first(static_cast<std::size_t>(got)));
      }
    }

    void await_room() {
      socket.async_wait(descriptor_base::wait_write,
                        [self = shared_from_this()](error_code failed) {
                          if (!failed && !self->closed) self->on.writable();
                        });
    }

    asio::posix::stream_descriptor socket;
    handlers on;
    bool closed = false;
  };

  std::shared_ptr<state> self_;
};

/// By a pidfd of the first process of the namespace. When that process exits, the kernel kills all
/// others in the namespace and waits until they are reaped before it reports the exit to pidfds:
/// `zap_pid_ns_processes` and `do_notify_pidfd`, called in this order by `exit_notify`
/// (kernel/exit.c).
class watched_container final : public guard_container {
 public:
  watched_container(const asio::any_io_executor& executor, base::unique_fd first_process)
      : first_(executor) {
    // One that has ended is not the first process of a namespace in which a guard has answered.
    if (!process::is_pidfd(first_process) || !process::is_alive(first_process)) return;
    error_code failed;
    first_.assign(first_process.get(), failed);
    if (!failed) static_cast<void>(first_process.release());
  }

  bool await_end(std::function<void()> ended) override {
    if (!first_.is_open()) return false;
    first_.async_wait(descriptor_base::wait_read, [told = std::move(ended)](error_code cancelled) {
      if (!cancelled) told();
    });
    return true;
  }

 private:
  asio::posix::stream_descriptor first_;
};

class guard_endpoint final : public guard_access {
 public:
  guard_endpoint(const asio::any_io_executor& executor, base::unique_fd socket, pid_t guard,
                 base::unique_fd first_process)
      : connection_(executor, std::move(socket)),
        workload_(guard),
        container_(executor, std::move(first_process)) {}

  /// Empty, or the reason for the failure.
  [[nodiscard]] std::string map(guard_fds fds) {
    if (!page_.map(std::move(fds.page))) {
      return "the second descriptor is not a guard's page of this release; restart the guard with "
             "the same binary as the agent";
    }
    if (fds.worker_page && !worker_page_.emplace().map(std::move(fds.worker_page))) {
      return "the third descriptor is not a workload's page of this release; restart the guard "
             "with the same binary as the agent";
    }
    return {};
  }

  [[nodiscard]] bool find_by(const settings::target& what) { return workload_.find_by(what); }

  [[nodiscard]] guard_connection& connection() override { return connection_; }
  [[nodiscard]] guard_page& page() override { return *page_; }
  [[nodiscard]] tenure_page* worker_page() override {
    return worker_page_ ? &**worker_page_ : nullptr;
  }
  [[nodiscard]] visible_workload& workload() override { return workload_; }
  [[nodiscard]] guard_container& container() override { return container_; }

 private:
  seqpacket_connection connection_;
  shared_page page_;
  std::optional<guard::worker_page> worker_page_;
  orphans workload_;
  watched_container container_;
};

std::expected<std::unique_ptr<guard_endpoint>, std::string> reach(
    const asio::any_io_executor& executor, guard_fds fds, pid_t guard) {
  auto out = std::make_unique<guard_endpoint>(executor, std::move(fds.socket), guard,
                                              std::move(fds.first_process));
  if (std::string wrong = out->map(std::move(fds)); !wrong.empty()) {
    return std::unexpected(std::move(wrong));
  }
  return out;
}

}  // namespace

std::expected<std::unique_ptr<guard_access>, std::string> guard_that_started_us(
    const asio::any_io_executor& executor, const std::optional<settings::target>& foreign) {
  auto fds = take_guard_fds();
  if (!fds) return std::unexpected(std::move(fds.error()));
  auto found = reach(executor, std::move(*fds), ::getppid());
  if (found && foreign && !(*found)->find_by(*foreign)) {
    return std::unexpected("/proc does not show the workload's processes; mount it");
  }
  return found;
}

std::expected<std::unique_ptr<guard_access>, std::string> guard_behind(
    const asio::any_io_executor& executor, guard_fds fds) {
  ucred who{};
  socklen_t size = sizeof who;
  ::getsockopt(fds.socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size);
  return reach(executor, std::move(fds), who.pid);
}

}  // namespace tenure::guard
