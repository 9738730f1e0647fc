#include "scripted_agent.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <sstream>
#include <string>

#include "base/boot_time.hpp"
#include "base/random.hpp"
#include "guard/guard_protocol.hpp"
#include "http/asio_loop.hpp"
#include "process/environment.hpp"
#include "workload/guard_link.hpp"

namespace tenure::tests {
namespace {

namespace asio = boost::asio;
using namespace tenure::guard;
using namespace tenure::workload;

class scripted_agent {
 public:
  explicit scripted_agent(asio::io_context& io) : loop_(io.get_executor()), control_(io) {}

  int begin() {
    // A second descriptor of the guard's socket, to send what a link never sends.
    int socket = -1;
    if (std::sscanf(std::getenv(process::guard_fds_variable), "%d", &socket) == 1)
      raw_ = ::dup(socket);
    control_.connect(asio::local::stream_protocol::endpoint(std::getenv(control_variable)));
    auto link = guard_link::from_environment(loop_, loop_.executor(), {.id = session_},
                                             [this](const guard_event& e) { report(e); });
    if (!link) {
      std::fprintf(stderr, "scripted agent: %s\n", link.error().c_str());
      return 70;
    }
    link_ = std::move(*link);
    read();
    return 0;
  }

 private:
  void say(const std::string& line) {
    boost::system::error_code ignored;
    asio::write(control_, asio::buffer(line + "\n"), ignored);
  }

  void introduce(const guard_ready& e) {
    if (!e.session.empty()) session_ = e.session;
    std::string found = "nothing";
    if (e.found) {
      found = (e.found->ended      ? "ended "
               : e.found->stopping ? "stopping "
                                   : "running ") +
              std::to_string(core::number(e.found->version));
      if (e.found->ended) found += " " + std::to_string(e.found->ended->status);
    }
    say("agent " + std::to_string(::getpid()) + " " + session_ + " " +
        std::to_string(core::number(e.last_term)) + " " + found);
  }

  void report(const guard_event& event) {
    if (const auto* ready = std::get_if<guard_ready>(&event)) return introduce(*ready);
    struct text {
      std::string operator()(const guard_ready&) const { return {}; }
      std::string operator()(const guard_unusable& e) const { return "unusable: " + e.why; }
      std::string operator()(const workload_started& e) const {
        return "started " + std::to_string(e.pid) + " " + std::to_string(core::number(e.version));
      }
      std::string operator()(const start_refused& e) const {
        return "refused " + std::to_string(core::number(e.version));
      }
      std::string operator()(const start_failed& e) const {
        return "failed " + std::to_string(core::number(e.version)) + " " + std::to_string(e.error);
      }
      std::string operator()(const workload_survives& e) const {
        return "survives " + std::to_string(core::number(e.version)) + " " +
               std::to_string(e.what.stuck) + "/" + std::to_string(e.what.left) + " " +
               std::to_string(e.what.pid) + " " + std::string(process::text(e.what.name)) + " " +
               e.what.state;
      }
      std::string operator()(const workload_exited& e) const {
        return "exited " + std::to_string(e.status);
      }
      std::string operator()(const workload_doubtful& e) const {
        return "doubtful " + std::to_string(e.what.left) + " " + std::to_string(e.what.pid);
      }
      std::string operator()(const signalled& e) const {
        return "signalled " + std::to_string(e.signo);
      }
      std::string operator()(const guard_gone&) const { return "guard_gone"; }
      std::string operator()(const guard_hangs&) const { return "guard_hangs"; }
      std::string operator()(const guard_recovers&) const { return "guard_recovers"; }
    };
    say(std::visit(text{}, event));
  }

  void read() {
    asio::async_read_until(control_, asio::dynamic_buffer(orders_), '\n',
                           [this](boost::system::error_code failed, std::size_t size) {
                             // The test is over.
                             if (failed) ::_exit(3);
                             obey(orders_.substr(0, size - 1));
                             orders_.erase(0, size);
                             read();
                           });
  }

  void obey(const std::string& line) {
    std::istringstream words(line);
    std::string order;
    words >> order;
    if (order == "arm") {
      const auto [version, in] = term_and_time(words);
      armed_ = base::boot_now() + in;
      std::int64_t sooner = 0;  // how many milliseconds before kill_at it must end by itself
      words >> sooner;
      link_->arm(core::version{version}, armed_ - std::chrono::milliseconds(sooner), armed_);
    } else if (order == "start") {
      std::uint64_t version = 0;
      words >> version;
      link_->start(core::version{version}, {std::istream_iterator<std::string>(words), {}});
    } else if (order == "granted") {
      std::uint64_t version = 0;
      words >> version;
      link_->note_grant(core::version{version});
      say("noted");
    } else if (order == "forget") {
      std::uint64_t before = 0;
      words >> before;
      link_->forget_grants(core::version{before});
      say("forgotten");
    } else if (order == "stop") {
      const auto [signal, in] = term_and_time(words);
      link_->stop(base::boot_now() + in, static_cast<int>(signal));
    } else if (order == "bye") {
      std::string how;
      words >> how;
      link_->bye(how == "workload" ? std::nullopt : std::optional(std::stoi(how)));
      ::_exit(0);
    } else if (order == "exit") {
      int code = 0;
      words >> code;
      ::_exit(code);
    } else if (order == "garbage") {
      const auto [seed, count] = term_and_time(words);
      send_garbage(seed, static_cast<int>(count / std::chrono::milliseconds(1)));
    } else if (order == "starts") {
      int count = 0;
      words >> count;
      for (; count > 0; --count) send_raw(sealed(message::start{.version = 999}));
      say("sent");
    } else if (order == "end") {
      link_->end_orphans();
    } else if (order == "log") {
      int form = 0;
      std::string fields;
      words >> form;
      std::getline(words, fields);
      link_->log_as(static_cast<log::log_form>(form), fields);
    } else if (order == "acknowledged") {
      say(link_->acknowledged() == armed_ ? "acknowledged yes" : "acknowledged no");
    }
  }

  static std::pair<std::uint64_t, core::duration> term_and_time(std::istream& words) {
    std::uint64_t first = 0;
    std::int64_t milliseconds = 0;
    words >> first >> milliseconds;
    return {first, std::chrono::milliseconds(milliseconds)};
  }

  void send_garbage(std::uint64_t seed, int count) {
    std::minstd_rand random(static_cast<std::uint32_t>(seed));
    for (; count > 0; --count) {
      // Types 0 to 7: unknown ones, and known ones with nonsense sizes and contents. Not bye and
      // not a complete stop, because the guard would obey them.
      std::array<unsigned char, 300> bytes{};
      for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
      bytes[0] = static_cast<unsigned char>(random() % 4);
      bytes[1] = 0;
      send_raw(bytes, random() % bytes.size());
    }
    say("sent");
  }

  template <class Bytes>
  void send_raw(const Bytes& bytes, std::size_t size = sizeof(Bytes)) {
    ::send(raw_, &bytes, size, MSG_NOSIGNAL);
  }

  http::asio_loop loop_;
  std::string session_ = base::random_hex(16);
  asio::local::stream_protocol::socket control_;
  std::string orders_;
  std::unique_ptr<guard_link> link_;
  core::time_point armed_{};
  int raw_ = -1;
};

}  // namespace

int be_scripted_agent() {
  asio::io_context io;
  scripted_agent agent(io);
  if (const int failed = agent.begin(); failed != 0) return failed;
  io.run();
  return 0;
}

}  // namespace tenure::tests
