#include "workload/guard_dialer.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <expected>
#include <optional>
#include <utility>

#include "base/error_text.hpp"
#include "base/trusted_open.hpp"
#include "guard/guard_listener.hpp"
#include "guard/guard_protocol.hpp"
#include "guard/meeting_place.hpp"

namespace tenure::workload {
namespace asio = boost::asio;
namespace {

using error_code = boost::system::error_code;

/// A guard that starts is found within this time; a try costs one system call.
constexpr auto between_tries = std::chrono::milliseconds(250);
/// A guard that gets any processor time answers in milliseconds.
constexpr auto answers_within = std::chrono::seconds(1);

/// Descriptors that arrived with a message. Closed unless taken.
struct received_fds {
  base::unique_fd page;
  base::unique_fd worker_page;
  base::unique_fd first_process;  ///< none: the guard is of an earlier release
};
constexpr std::size_t most_fds = 3;

received_fds fds_in(msghdr& all) {
  received_fds out;
  for (cmsghdr* head = CMSG_FIRSTHDR(&all); head != nullptr; head = CMSG_NXTHDR(&all, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    std::array<int, most_fds> fds{-1, -1, -1};
    std::memcpy(fds.data(), CMSG_DATA(head), std::min(sizeof fds, head->cmsg_len - CMSG_LEN(0)));
    out.page.reset(fds[0]);
    out.worker_page.reset(fds[1]);
    out.first_process.reset(fds[2]);
  }
  return out;
}

std::string refusal(const guard::message::turned_away& what) {
  if (what.reason == guard::message::turned_away::other_user) {
    return "the guard runs as user " + std::to_string(what.guard_uid) +
           " and lets no agent of user " + std::to_string(what.agent_uid) +
           " in; run both containers as the same user, or give the guard --agent-uid " +
           std::to_string(what.agent_uid);
  }
  return "the guard has another agent; give each agent a directory of its own";
}

std::string of_another_user(uid_t who) {
  return "the guard's socket belongs to user " + std::to_string(who) +
         "; this agent accepts only user " + std::to_string(::geteuid()) +
         " and root; run both containers as the same user, or give the agent "
         "guard_uid " +
         std::to_string(who) + " if that is the guard's user";
}

constexpr const char* nobody = "no guard is there; start one with `tenure guard --dir`";

/// Whom the setting names, or else the user of the guard that was the first one in a meeting place.
std::optional<uid_t> expected_user(const std::string& directory, std::optional<uid_t> guard_uid) {
  return guard_uid ? guard_uid : guard::user_of_guard(directory);
}

/// Checks the file behind the name and connects a socket of this type to that file, even if the
/// name is changed meanwhile. The socket, or the errno value of connect(2) if that has failed.
std::expected<std::pair<base::unique_fd, int>, no_guard> connect_to(const std::string& directory,
                                                                    std::optional<uid_t> guard_uid,
                                                                    int type) {
  const std::string path = directory + "/" + guard::guard_socket_name;
  const auto file =
      base::open_trusted(AT_FDCWD, path.c_str(), O_PATH,
                         {.type = S_IFSOCK, .not_for = 0, .owner = guard_uid, .one_name = true});
  if (!file) {
    if (file.error().missing()) return std::unexpected(no_guard{.why = nobody, .absent = true});
    const bool stranger = file.error().why == base::flaw::kind::owner;
    return std::unexpected(no_guard{stranger ? of_another_user(file.error().about.st_uid)
                                             : base::text(path, file.error())});
  }
  base::unique_fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return std::unexpected(no_guard{"cannot create a socket: " + base::error_text(errno)});
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", file->get());
  const bool is_connected =
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return std::pair(std::move(fd), is_connected ? 0 : errno);
}

no_guard not_connected(const std::string& directory, int error) {
  if (error == ECONNREFUSED) return {.why = nobody, .absent = true};
  const char* const remedy =
      error == EACCES   ? "; run both containers as the same user, or give the guard --agent-uid"
      : error == ENOENT ? "; mount the proc file system at /proc"
                        : "";
  return {directory + "/" + guard::guard_socket_name + ": " + base::error_text(error) + remedy};
}

}  // namespace

struct guard_dialer::impl : std::enable_shared_from_this<impl> {
  impl(const asio::any_io_executor& executor, std::string where, std::optional<uid_t> user,
       handler to_call)
      : directory(std::move(where)),
        guard_uid(user),
        outcome(std::move(to_call)),
        socket(executor),
        timer(executor) {}

  void try_after(std::chrono::milliseconds pause);
  void try_now();
  [[nodiscard]] std::expected<base::unique_fd, no_guard> reach() const;
  void await_welcome();
  void read_welcome();
  void failed(const std::string& why, bool absent = false);

  std::string directory;
  std::optional<uid_t> guard_uid;
  handler outcome;
  asio::posix::stream_descriptor socket;
  asio::steady_timer timer;
  bool dials = false;  ///< until a guard has answered
  bool closed = false;
};

std::expected<base::unique_fd, no_guard> guard_dialer::impl::reach() const {
  const std::optional<uid_t> expected = expected_user(directory, guard_uid);
  auto tried = connect_to(directory, expected, SOCK_SEQPACKET);
  if (!tried) return std::unexpected(std::move(tried.error()));
  auto& [fd, error] = *tried;
  if (error != 0) return std::unexpected(not_connected(directory, error));
  const auto who = base::peer_of(fd.get());
  if (!who) {
    return std::unexpected(no_guard{directory + "/" + guard::guard_socket_name +
                                    ": the kernel does not say who listens there"});
  }
  if (!base::is_trusted_user(who->uid, expected)) {
    return std::unexpected(no_guard{of_another_user(who->uid)});
  }
  return std::move(fd);
}

void guard_dialer::impl::try_now() {
  auto reached = reach();
  if (!reached) return failed(reached.error().why, reached.error().absent);
  socket.assign(reached->release());
  await_welcome();
}

void guard_dialer::impl::await_welcome() {
  timer.expires_after(answers_within);
  timer.async_wait([self = shared_from_this()](error_code cancelled) {
    if (cancelled || self->closed) return;
    self->failed("the guard does not answer: it is stopped, or gets no processor time");
  });
  socket.async_wait(asio::posix::descriptor_base::wait_read,
                    [self = shared_from_this()](error_code cancelled) {
                      if (!cancelled && !self->closed) self->read_welcome();
                    });
}

void guard_dialer::impl::read_welcome() {
  alignas(8) std::array<std::byte, 256> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_fds * sizeof(int))> space{};
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
      guard::parse(std::span(bytes).first(static_cast<std::size_t>(std::max<ssize_t>(got, 0))));
  if (!what) return failed("the guard has hung up");
  if (const auto no = guard::as<guard::message::turned_away>(*what)) return failed(refusal(*no));
  if (!guard::as<guard::message::welcome>(*what) || !fds.page || !fds.worker_page) {
    return failed("the program that answers there is not a guard");
  }
  timer.cancel();
  dials = false;
  outcome(guard::guard_fds{.socket = base::unique_fd(socket.release()),
                           .page = std::move(fds.page),
                           .worker_page = std::move(fds.worker_page),
                           .first_process = std::move(fds.first_process)});
}

void guard_dialer::impl::failed(const std::string& why, bool absent) {
  error_code ignored;
  socket.close(ignored);
  try_after(between_tries);
  outcome(no_guard{.why = why, .absent = absent});
}

void guard_dialer::impl::try_after(std::chrono::milliseconds pause) {
  dials = true;
  timer.expires_after(pause);
  timer.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled && !self->closed) self->try_now();
  });
}

/// The kernel compares types after it has found the socket, and before it connects anything.
std::expected<void, no_guard> look_for_guard(const std::string& directory,
                                             std::optional<uid_t> guard_uid) {
  auto tried = connect_to(directory, expected_user(directory, guard_uid), SOCK_STREAM);
  if (!tried) return std::unexpected(std::move(tried.error()));
  const int error = tried->second;
  if (error == EPROTOTYPE) return {};
  if (error == 0 || error == EAGAIN) {
    return std::unexpected(no_guard{"the program that listens there is not a guard"});
  }
  return std::unexpected(not_connected(directory, error));
}

guard_dialer::guard_dialer(asio::any_io_executor executor, std::string directory,
                           std::optional<uid_t> guard_uid, handler outcome)
    : self_(std::make_shared<impl>(executor, std::move(directory), guard_uid, std::move(outcome))) {
}

guard_dialer::~guard_dialer() {
  self_->closed = true;
  error_code ignored;
  self_->socket.close(ignored);
  self_->timer.cancel();
}

void guard_dialer::start() {
  if (!self_->dials) self_->try_after(std::chrono::milliseconds(0));
}

void guard_dialer::start_later() {
  if (!self_->dials) self_->try_after(between_tries);
}

}  // namespace tenure::workload
