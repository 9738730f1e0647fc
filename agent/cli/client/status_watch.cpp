#include "cli/client/status_watch.hpp"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/boot_time.hpp"
#include "base/time_text.hpp"
#include "base/wall_time.hpp"
#include "cli/client/agent_feed.hpp"
#include "cli/text/status_view.hpp"
#include "cli/text/terminal.hpp"
#include "cli/text/variable.hpp"
#include "http/client/client_route.hpp"
#include "runtime/exit_status.hpp"
#include "wire/election.hpp"

namespace tenure::cli {
namespace {

constexpr core::duration hold_elsewhere = std::chrono::seconds(30);
constexpr core::duration tick = std::chrono::seconds(1);

/// Follows all agents on one thread, and shows what they report in one of three ways.
class status_watch {
 public:
  explicit status_watch(const watched_agents& what)
      : json_(what.json), signals_(loop_, SIGINT, SIGTERM, SIGHUP), timer_(loop_) {
    const bool on_screen =
        !json_ && ::isatty(STDOUT_FILENO) == 1 && variable("TERM").value_or("dumb") != "dumb";
    if (on_screen) screen_.emplace();
    for (const settings::endpoint& agent : what.agents) {
      const std::size_t place = seen_.size();
      seen_.push_back({.agent = agent});
      feeds_.push_back(std::make_unique<agent_feed>(
          loop_, agent, what.path, on_screen ? shown_for(seen_.back()) : hold_elsewhere,
          [this, place](const agent_answer& answer) { came(place, answer); }));
    }
    said_.resize(seen_.size());
  }

  /// Returns the signal that has ended it.
  int run() {
    signals_.async_wait([this](const boost::system::error_code&, int signo) {
      ended_by_ = signo;
      for (const auto& one : feeds_) one->stop();
      timer_.cancel();
    });
    for (const auto& one : feeds_) one->start();
    if (screen_) keep_ticking();
    while (ended_by_ == 0) loop_.run_one();
    screen_.reset();
    return ended_by_;
  }

 private:
  void came(std::size_t place, const agent_answer& answer) {
    take(seen_[place], answer, base::boot_now());
    if (screen_) {
      feeds_[place]->hold(shown_for(seen_[place]));
      draw();
    } else if (json_) {
      say_json(place);
    } else {
      say_lines(place);
    }
  }

  void draw() {
    const std::size_t columns = screen_->columns();
    const status_page page = page_of(seen_, base::boot_now());
    std::vector<std::string> lines = table_lines(page.table, colour_, columns);
    for (const cell& crash : page.crashes) lines.push_back(painted(crash, colour_, columns));
    for (const cell& failure : page.failures) lines.push_back(painted(failure, colour_, columns));
    screen_->show(lines);
  }

  /// Prints each state once, however often it is received.
  void say_json(std::size_t place) {
    const std::string body = json_of(seen_[place]);
    std::string lasts = wire::lasting_part(body);
    if (said_[place][""] == lasts) return;
    said_[place][""] = std::move(lasts);
    std::printf("%s\n", body.c_str());
    std::fflush(stdout);
  }

  void say_lines(std::size_t place) {
    std::map<std::string, std::string> now;
    for (const std::string& line : lines_of(seen_[place])) {
      const std::string what = line.substr(0, line.find(' '));
      now[what] = line;
      if (said_[place].contains(what) && said_[place][what] == line) continue;
      const std::string when(base::time_text(base::wall_now_ms()).date_and_time());
      std::puts((when + " " + line).c_str());
    }
    said_[place] = std::move(now);
    std::fflush(stdout);
  }

  void keep_ticking() {
    http::expire_at(timer_, base::boot_now() + tick);
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      draw();
      keep_ticking();
    });
  }

  boost::asio::io_context loop_;
  bool json_;
  bool colour_ = wants_colour();
  std::optional<live_text> screen_;
  std::vector<agent_sight> seen_;
  std::vector<std::map<std::string, std::string>> said_;  ///< by election, or by agent
  std::vector<std::unique_ptr<agent_feed>> feeds_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  int ended_by_ = 0;
};

}  // namespace

int watch_status(const watched_agents& what) {
  const int signo = status_watch(what).run();
  // A parent that waits for us must see that a signal ended us.
  std::signal(signo, SIG_DFL);
  std::raise(signo);
  return runtime::exit_failed;
}

}  // namespace tenure::cli
