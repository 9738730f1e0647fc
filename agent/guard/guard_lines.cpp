#include "guard/guard_lines.hpp"

#include <sys/wait.h>

#include <cstring>
#include <string_view>

#include "base/duration_text.hpp"

namespace tenure::guard {
namespace {

using sentence = guard_log::sentence;
using log::log_level;

void append_signal(sentence& to, int signo) {
  const char* symbol = ::sigabbrev_np(signo);
  to.append("SIG");
  to.append(symbol != nullptr ? symbol : "?");
}

/// Leaves out characters that would end a value or begin an escape.
void append_plain(sentence& to, std::string_view from) {
  for (const char& c : from) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    to.append(plain ? std::string_view(&c, 1) : "?");
  }
}

sentence text(std::string_view from) {
  sentence out;
  out.append(from);
  return out;
}

}  // namespace

sentence stopped_words(pid_t workload, int signo, core::duration left) {
  sentence out = text("the lease was not renewed: the guard has sent ");
  append_signal(out, signo);
  out.append(" to the workload");
  if (workload != 0) {
    out.append(" (pid ");
    out.append_number(workload);
    out.append(")");
  }
  out.append(", and kills what is left of it in ");
  out.append(base::spoken(left).view());
  return out;
}

sentence killed_words(bool told) {
  return told ? text("the workload has not ended in time: the guard kills what is left of it")
              : text("the lease was not renewed: the guard kills the workload");
}

sentence ended_words(int status) {
  sentence out = text("the workload ");
  if (WIFEXITED(status)) {
    out.append("exited with status ");
    out.append_number(WEXITSTATUS(status));
  } else if (WIFSIGNALED(status)) {
    out.append("was ended by ");
    append_signal(out, WTERMSIG(status));
  } else {
    out.append("has ended");
  }
  return out;
}

void say_told_to_end(guard_log& to, int signo, int stop_signal, core::duration drain) {
  sentence out = text("told to end by ");
  append_signal(out, signo);
  out.append("; the workload gets ");
  append_signal(out, stop_signal);
  out.append(" now, and SIGKILL in ");
  out.append(base::spoken(drain).view());
  to.say(log_level::info, out);
}

void say_agent_killed(guard_log& to, pid_t agent, int signo, std::optional<core::duration> runs) {
  sentence out = text("the agent (pid ");
  out.append_number(agent);
  out.append(") was killed by ");
  append_signal(out, signo);
  if (runs) {
    out.append("; the workload goes on for ");
    out.append(base::spoken(*runs).view());
    out.append(" at the most, while another agent is started");
  } else {
    out.append("; another one is started");
  }
  to.say(log_level::warn, out);
}

void say_agent_gone(guard_log& to, core::duration runs) {
  sentence out = text("the agent is gone; the workload goes on for ");
  out.append(base::spoken(runs).view());
  out.append(" at the most, unless another agent comes");
  to.say(log_level::warn, out);
}

void say_no_agent(guard_log& to, std::string_view why) {
  to.say(log_level::error, text(why));
}

void say_survivors(guard_log& to, const process::survivors& what) {
  sentence out = text("SIGKILL has not ended ");
  out.append_number(what.left);
  out.append(" of the workload's processes, ");
  out.append_number(what.stuck);
  out.append(" of which hang in the kernel; one is ");
  out.append_number(what.pid);
  out.append(" (");
  append_plain(out, process::text(what.name));
  out.append("), state ");
  append_plain(out, std::string_view(&what.state, 1));
  out.append(", in ");
  append_plain(out, process::text(what.where));
  to.say(log_level::error, out);
}

void say_runs_without_lease(guard_log& to) {
  to.say(log_level::warn, text("the workload runs without a lease: the guard stops it"));
}

void say_may_not_signal(guard_log& to) {
  to.say(log_level::error,
         text("some of the workload's processes may not be signalled; run both containers as the "
              "same user"));
}

}  // namespace tenure::guard
