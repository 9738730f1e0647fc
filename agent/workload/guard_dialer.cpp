#include "workload/guard_dialer.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "os/error_text.hpp"
#include "workload/guard_door.hpp"
#include "workload/guard_protocol.hpp"

namespace tenure::workload {
namespace asio = boost::asio;
namespace {

using error_code = boost::system::error_code;

/// A guard that starts is found so soon; asking costs one system call.
constexpr auto between_tries = std::chrono::milliseconds(250);
/// A guard that gets any processor at all answers in milliseconds.
constexpr auto answers_within = std::chrono::seconds(1);

/// Descriptors that came with a message. Closed unless they are taken.
struct received_fds {
  os::unique_fd page;
  os::unique_fd worker_page;
};

received_fds fds_in(msghdr& all) {
  received_fds out;
  for (cmsghdr* head = CMSG_FIRSTHDR(&all); head != nullptr; head = CMSG_NXTHDR(&all, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    std::array<int, 2> fds{-1, -1};
    std::memcpy(fds.data(), CMSG_DATA(head), std::min(sizeof fds, head->cmsg_len - CMSG_LEN(0)));
    out.page.reset(fds[0]);
    out.worker_page.reset(fds[1]);
  }
  return out;
}

std::string refusal(const message::turned_away& what) {
  if (what.reason == message::turned_away::other_user) {
    return "the guard runs as user " + std::to_string(what.guard_uid) +
           " and lets no agent of user " + std::to_string(what.agent_uid) +
           " in; run both containers as the same user, or give the guard --agent-uid " +
           std::to_string(what.agent_uid);
  }
  return "the guard has another agent; one directory is for one agent";
}

}  // namespace

struct guard_dialer::impl : std::enable_shared_from_this<impl> {
  impl(const asio::any_io_executor& executor, std::string where, handler to_call)
      : directory(std::move(where)),
        outcome(std::move(to_call)),
        socket(executor),
        timer(executor) {}

  void try_after(std::chrono::milliseconds pause);
  void try_now();
  void await_welcome();
  void read_welcome();
  void failed(const std::string& why, bool absent = false);

  std::string directory;
  handler outcome;
  asio::posix::stream_descriptor socket;
  asio::steady_timer timer;
  bool closed = false;
};

void guard_dialer::impl::try_now() {
  const auto address = door_address(directory);
  if (!address) return failed("the path " + directory + " is too long for a socket");
  os::unique_fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed("cannot make a socket: " + os::error_text(errno));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    const int error = errno;
    const bool absent = error == ENOENT || error == ECONNREFUSED;
    const std::string remedy =
        error == EACCES ? "; run both containers as the same user, or give the guard --agent-uid"
                        : "";
    return failed(absent ? "no guard is there; `tenure guard --dir` makes one"
                         : std::string(address->sun_path) + ": " + os::error_text(error) + remedy,
                  absent);
  }
  socket.assign(fd.release());
  await_welcome();
}

void guard_dialer::impl::await_welcome() {
  timer.expires_after(answers_within);
  timer.async_wait([self = shared_from_this()](error_code cancelled) {
    if (cancelled || self->closed) return;
    self->failed("the guard does not answer: it is stopped, or gets no processor");
  });
  socket.async_wait(asio::posix::descriptor_base::wait_read,
                    [self = shared_from_this()](error_code cancelled) {
                      if (!cancelled && !self->closed) self->read_welcome();
                    });
}

void guard_dialer::impl::read_welcome() {
  alignas(8) std::array<std::byte, 256> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> space{};
  iovec into{.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr all{};
  all.msg_iov = &into;
  all.msg_iovlen = 1;
  all.msg_control = space.data();
  all.msg_controllen = space.size();
  const ssize_t got = ::recvmsg(socket.native_handle(), &all, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return await_welcome();
  received_fds fds = fds_in(all);
  const auto what =
      parse(std::span(bytes).first(static_cast<std::size_t>(std::max<ssize_t>(got, 0))));
  if (!what) return failed("the guard has hung up");
  if (const auto no = as<message::turned_away>(*what)) return failed(refusal(*no));
  if (!as<message::welcome>(*what) || !fds.page || !fds.worker_page) {
    return failed("what answers there is no guard");
  }
  timer.cancel();
  outcome(guard_fds{.socket = os::unique_fd(socket.release()),
                    .page = std::move(fds.page),
                    .worker_page = std::move(fds.worker_page)});
}

void guard_dialer::impl::failed(const std::string& why, bool absent) {
  error_code ignored;
  socket.close(ignored);
  try_after(between_tries);
  outcome(no_guard{.why = why, .absent = absent});
}

void guard_dialer::impl::try_after(std::chrono::milliseconds pause) {
  timer.expires_after(pause);
  timer.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled && !self->closed) self->try_now();
  });
}

guard_dialer::guard_dialer(asio::any_io_executor executor, std::string directory, handler outcome)
    : self_(std::make_shared<impl>(executor, std::move(directory), std::move(outcome))) {}

guard_dialer::~guard_dialer() {
  self_->closed = true;
  error_code ignored;
  self_->socket.close(ignored);
  self_->timer.cancel();
}

void guard_dialer::start() {
  self_->try_after(std::chrono::milliseconds(0));
}

void guard_dialer::start_later() {
  self_->try_after(between_tries);
}

}  // namespace tenure::workload
