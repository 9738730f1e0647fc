#include "http/client/host_addresses.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <nss.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error_text.hpp"
#include "base/unique_fd.hpp"
#include "settings/listen_address.hpp"

namespace tenure::http {
namespace {

using boost::asio::ip::tcp;
using boost::asio::posix::stream_descriptor;

/// Written by the thread, read once `ended` is readable.
struct name_answer {
  std::mutex lock;
  std::vector<tcp::endpoint> addresses;
  std::string failure;
  base::unique_fd ended;
};

/// Only the hosts file and name servers, which are built into the C library. Others are plug-ins,
/// which /etc/nsswitch.conf names: our static binary would load those of the root that it is in,
/// and one that was built for another C library ends the process.
void use_built_in_services() {
  [[maybe_unused]] static const int done = ::__nss_configure_lookup("hosts", "files dns");
}

/// Blocks for as long as the name service takes.
void look_up(const std::string& host, std::uint16_t port, name_answer& into) {
  use_built_in_services();
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  const int why = errno;
  const std::lock_guard hold(into.lock);
  if (error == EAI_SYSTEM) {
    into.failure = base::error_text(why);
  } else if (error != 0) {
    into.failure = ::gai_strerror(error);
  }
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    tcp::endpoint address;
    if (one->ai_addrlen > address.capacity()) continue;
    std::memcpy(address.data(), one->ai_addr, one->ai_addrlen);
    address.resize(one->ai_addrlen);
    address.port(port);
    if (into.addresses.size() < host_addresses::most) into.addresses.push_back(address);
  }
  if (found != nullptr) ::freeaddrinfo(found);
  if (error == 0 && into.addresses.empty()) into.failure = "the name has no address";
}

/// Starts a thread that nobody waits for: it shares nothing but `into`.
std::string start_look_up(std::string host, std::uint16_t port, std::shared_ptr<name_answer> into) {
  // Signals are for the threads that handle them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string failure;
  try {
    std::thread([name = std::move(host), port, shared = std::move(into)] {
      ::pthread_setname_np(::pthread_self(), "tenure-lookup");
      look_up(name, port, *shared);
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(shared->ended.get(), &one, sizeof one);
    }).detach();
  } catch (const std::system_error& error) {
    failure = "cannot start a thread for it: " + std::string(error.what());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failure;
}

}  // namespace

/// Our side of a look-up.
struct host_addresses::job {
  job(const boost::asio::any_io_executor& where, int readable) : ended(where, readable) {}

  stream_descriptor ended;  ///< our own descriptor: closing it cannot hit the thread's
  std::shared_ptr<name_answer> shared = std::make_shared<name_answer>();
};

host_addresses::host_addresses(boost::asio::any_io_executor where, const settings::endpoint& of)
    : executor_(std::move(where)),
      host_(of.host),
      port_(of.port),
      literal_(settings::is_ip_literal(of.host)) {
  if (literal_) known_.emplace_back(boost::asio::ip::make_address(host_), port_);
}

host_addresses::~host_addresses() = default;

void host_addresses::prefer(const tcp::endpoint& which) {
  const auto found = std::ranges::find(known_, which);
  if (found != known_.end()) std::rotate(known_.begin(), found, found + 1);
}

void host_addresses::refresh() {
  if (literal_ || refreshing()) return;
  base::unique_fd ours(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  base::unique_fd theirs(ours ? ::fcntl(ours.get(), F_DUPFD_CLOEXEC, 0) : -1);
  if (!theirs) {
    ended(base::error_text(errno));
    return;
  }
  job_ = std::make_shared<job>(executor_, ours.release());
  job_->shared->ended = std::move(theirs);
  if (std::string failure = start_look_up(host_, port_, job_->shared); !failure.empty()) {
    job_.reset();
    ended(std::move(failure));
    return;
  }
  job_->ended.async_wait(stream_descriptor::wait_read, [this, noted = std::weak_ptr(job_)](
                                                           const boost::system::error_code& error) {
    const auto finished = noted.lock();  // gone with this object
    if (!finished || error) return;
    job_.reset();
    const std::lock_guard hold(finished->shared->lock);
    if (!finished->shared->addresses.empty()) learn(finished->shared->addresses);
    ended(finished->shared->failure);
  });
}

void host_addresses::ended(std::string failure) {
  failure_ = std::move(failure);
  for (const auto& then : std::exchange(waiting_, {})) then();
}

}  // namespace tenure::http
