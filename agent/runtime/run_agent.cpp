#include "runtime/run_agent.hpp"

#include <sys/prctl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <utility>

#include "base/memory.hpp"
#include "base/terminal.hpp"
#include "guard/agent_process.hpp"
#include "runtime/agent.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/lines.hpp"
#include "runtime/log_form.hpp"
#include "runtime/process_surroundings.hpp"

namespace tenure::runtime {
namespace {

/// Reports to the agent each signal that asks it to end, until `stop`.
class end_signals {
 public:
  end_signals(boost::asio::io_context& on, agent& whom, log::logger& to)
      : signals_(on), agent_(whom), log_(to) {
    for (const int signo : {SIGTERM, SIGINT, SIGQUIT}) signals_.add(signo);
    struct sigaction hup{};
    ::sigaction(SIGHUP, nullptr, &hup);
    if (hup.sa_handler != SIG_IGN) signals_.add(SIGHUP);
    listen();
  }
  void stop() {
    boost::system::error_code ignored;
    signals_.cancel(ignored);
  }

 private:
  void listen() {
    signals_.async_wait([this](const boost::system::error_code& error, int signo) {
      if (error) return;
      listen();
      if (signo == SIGHUP && !base::has_hung_up(terminal_)) return say_no_reload(log_);
      agent_.told_to_end(signo);
    });
  }

  boost::asio::signal_set signals_;
  agent& agent_;
  log::logger& log_;
  const int terminal_ = base::standard_terminal();
};

}  // namespace

int run_agent(agent_options options) {
  // Threads that start later inherit the name.
  ::prctl(PR_SET_NAME, guard::agent_name);
  base::give_back_large_blocks();
  // Memory holds the store's password, keys and the control token; the workload often runs as our
  // user.
  base::keep_memory_private();
  const settings::agent settings = options.settings;
  log::logger to(form_of(settings.log_format), settings.log_level);
  for (const std::string& warning : options.warnings) say_settings_warning(to, warning);

  int status = exit_ok;
  end_signals* until_ended = nullptr;
  boost::asio::io_context io(1);
  process_surroundings machine(io.get_executor(), settings, to);
  agent one(std::move(options), machine, to, [&](int with) {
    status = with;
    until_ended->stop();
  });
  end_signals signals(io, one, to);
  until_ended = &signals;
  one.start();
  io.run();
  return status;
}

}  // namespace tenure::runtime
