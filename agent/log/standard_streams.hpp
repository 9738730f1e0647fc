#pragma once

/// What the start of a program sees to before it prints or opens anything.
namespace tenure::log {

/// Puts /dev/null where stdin, stdout or stderr were closed. A socket or file of ours would get the
/// number otherwise, and what is printed would be written into it. As before, writing fails there.
void reserve_standard_streams();

/// From now on this process neither ends nor hangs because stderr cannot be written: a message
/// waits for its reader for `line_writer::patience`, and is lost then. Ignores SIGPIPE and SIGXFSZ;
/// `process::fork_and_exec` gives programs the default back. Only for programs that live on: a
/// command in front of `head` is meant to end by SIGPIPE.
void outlive_stderr();

}  // namespace tenure::log
