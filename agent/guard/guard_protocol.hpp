#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "process/survivors.hpp"

/// The messages between agent and guard over a SOCK_SEQPACKET socket, one message per packet.
///
/// Both ends run on one machine, so numbers are in its byte order. They may be of different
/// releases, because the guard outlives an agent that is replaced. So a message contains the length
/// of its fixed part, new fields are added at its end, and unknown types are ignored.
namespace tenure::guard {

inline constexpr std::uint32_t guard_protocol_version = 1;

/// Bytes of environment that the agent may add to the workload's.
inline constexpr std::size_t max_environment_bytes = 16 * 1024;
/// Variables in that environment.
inline constexpr std::size_t max_environment_entries = 256;
/// The longest message.
inline constexpr std::size_t max_message_bytes = max_environment_bytes + 256;

/// Marks all processes of one start of a workload: "SESSION.TERM". It identifies them if the guard
/// has died and they have left their process group.
inline constexpr const char* run_variable = "TENURE_RUN";

/// In the same environment: what the guard's container is to say of the term if it ends now; see
/// kube/container_end.hpp. The workload does not get it.
inline constexpr std::string_view last_words_variable = "TENURE_LAST_WORDS";

/// "TENURE_RUN=SESSION.", with which the marks of all starts in a session begin.
[[nodiscard]] inline std::string mark_of_session(std::string_view session) {
  return std::string(run_variable).append("=").append(session).append(".");
}

/// The store session of a guard's agents, as 32 hexadecimal digits without a final zero; zeros:
/// none. The guard gets it from its first agent and passes it to each later one, so that the next
/// agent can keep, or release, what the previous one holds.
using session_id = std::array<char, 32>;

enum class message_type : std::uint16_t {
  hello = 1,
  armed = 2,
  start = 3,
  stop = 4,
  bye = 5,
  log_as = 6,

  guard_hello = 64,
  started = 65,
  refused = 66,
  start_failed = 67,
  exited = 68,
  signalled = 69,
  welcome = 70,
  turned_away = 71,
  survives = 72,
};

struct message_head {
  message_type type{};
  std::uint16_t fixed_size = 0;  ///< the size of the message without its tail, including this head
  std::uint32_t tail_size = 0;
};

namespace message {

/// Agent to guard: the first message; answered by `guard_hello`.
struct hello {
  static constexpr auto type = message_type::hello;
  static constexpr std::size_t first_size = 16;
  message_head head{};
  std::uint32_t protocol = guard_protocol_version;
  std::uint32_t is_bound = 0;  ///< 1: the agent already has a session and cannot take the guard's
  session_id session{};        ///< becomes the guard's if it has none, or if `is_bound`
};

/// Agent to guard: the deadlines in the page have changed. Acknowledged in the page.
struct armed {
  static constexpr auto type = message_type::armed;
  message_head head{};
};

/// Agent to guard: start the workload. The tail is any number of "KEY=VALUE\0".
struct start {
  static constexpr auto type = message_type::start;
  message_head head{};
  std::uint64_t version = 0;
};

/// Agent to guard: stop the workload.
struct stop {
  static constexpr auto type = message_type::stop;
  message_head head{};
  std::int64_t kill_by = 0;  ///< CLOCK_BOOTTIME in nanoseconds
  std::int32_t signal = 0;   ///< 0: the guard's choice
  std::uint32_t reserved = 0;
};

/// Agent to guard: the agent ends now, and the guard must end, too.
struct bye {
  static constexpr auto type = message_type::bye;
  static constexpr std::int32_t as_the_workload = -1;
  message_head head{};
  std::int32_t exit_code = as_the_workload;
  std::uint32_t reserved = 0;
};

/// Agent to guard: use this form for your log from now on. The tail is what follows the message in
/// each line: the fields that say whose it is, already formatted.
struct log_as {
  static constexpr auto type = message_type::log_as;
  message_head head{};
  std::uint32_t form = 0;  ///< log::log_form
  std::uint32_t reserved = 0;
};

/// Guard to agent: what runs, for a newly connected agent. Its deadlines are in the page.
struct guard_hello {
  static constexpr auto type = message_type::guard_hello;
  static constexpr std::size_t first_size = 24;
  static constexpr std::uint32_t nothing_runs = 0;
  static constexpr std::uint32_t runs = 1;
  static constexpr std::uint32_t is_stopping = 2;
  static constexpr std::uint32_t has_ended = 3;  ///< by itself; guard and agent end with it
  message_head head{};
  std::uint32_t protocol = guard_protocol_version;
  std::uint32_t running = nothing_runs;
  std::uint64_t version = 0;  ///< the version of the workload that runs
  session_id session{};       ///< the session of the previous agents; zeros: this is the first
  std::int32_t pid = 0;       ///< the workload's first process; 0: it has ended
  std::int32_t status = 0;    ///< only for `has_ended`, from waitpid
  std::int64_t clock = 0;     ///< the guard's CLOCK_BOOTTIME in nanoseconds when it sends this
  std::int64_t ended_at = 0;  ///< only for `has_ended`, by the same clock
};

struct started {
  static constexpr auto type = message_type::started;
  message_head head{};
  std::uint64_t version = 0;
  std::int32_t pid = 0;
  std::uint32_t reserved = 0;
};

struct refused {
  static constexpr auto type = message_type::refused;
  message_head head{};
  std::uint64_t version = 0;
};

struct start_failed {
  static constexpr auto type = message_type::start_failed;
  message_head head{};
  std::uint64_t version = 0;
  std::int32_t error = 0;  ///< errno
  std::uint32_t reserved = 0;
};

/// Guard to agent: the *last* process of the workload is gone.
struct exited {
  static constexpr auto type = message_type::exited;
  static constexpr std::size_t first_size = 24;
  message_head head{};
  std::uint64_t version = 0;
  std::int32_t status = 0;             ///< the first process's status, from waitpid
  std::uint32_t had_to_be_killed = 0;  ///< 1: it was asked to end, and SIGKILL had to follow
  std::int64_t at = 0;  ///< CLOCK_BOOTTIME in nanoseconds; 0: not given by earlier releases
};

/// Guard to agent: SIGKILL has not yet ended all processes. `exited` follows once it has.
struct survives {
  static constexpr auto type = message_type::survives;
  message_head head{};
  std::uint64_t version = 0;
  std::uint32_t left = 0;   ///< processes
  std::uint32_t stuck = 0;  ///< how many of these hang in the kernel
  std::int32_t pid = 0;     ///< one of them, which the fields below describe
  std::uint32_t state = 0;  ///< its letter, as in /proc
  process::program_name name{};
  process::kernel_function where{};
};

/// Guard to agent: the guard got a signal to end.
struct signalled {
  static constexpr auto type = message_type::signalled;
  message_head head{};
  std::int32_t signo = 0;
  std::uint32_t reserved = 0;
};

/// Guard to an agent that connected over its socket, with the descriptors of both pages and a pidfd
/// of the first process of the guard's PID namespace, which earlier releases do not send. The first
/// message.
struct welcome {
  static constexpr auto type = message_type::welcome;
  message_head head{};
  std::uint32_t protocol = guard_protocol_version;
  std::uint32_t reserved = 0;
};

/// Guard to an agent that may not connect. Then the guard hangs up.
struct turned_away {
  static constexpr auto type = message_type::turned_away;
  static constexpr std::uint32_t other_user = 1;
  static constexpr std::uint32_t another_agent = 2;
  message_head head{};
  std::uint32_t reason = 0;
  std::uint32_t guard_uid = 0;  ///< only for `other_user`
  std::uint32_t agent_uid = 0;  ///< only for `other_user`
  std::uint32_t reserved = 0;
};

}  // namespace message

template <class M>
concept guard_message = std::has_unique_object_representations_v<M> &&
                        std::is_trivially_copyable_v<M> && requires { M::type; };

/// The message with its head filled in.
template <guard_message M>
[[nodiscard]] constexpr M sealed(M what, std::size_t tail_size = 0) {
  what.head = {
      .type = M::type, .fixed_size = sizeof(M), .tail_size = static_cast<std::uint32_t>(tail_size)};
  return what;
}

/// One packet with consistent sizes. Points into the buffer it was read from.
struct packet {
  message_type type;
  std::span<const std::byte> fixed;
  std::string_view tail;
};

/// Parses a packet; nothing if its sizes are inconsistent.
[[nodiscard]] inline std::optional<packet> parse(std::span<const std::byte> bytes) {
  message_head head{};
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.fixed_size < sizeof head || head.fixed_size > bytes.size()) return std::nullopt;
  const auto tail = bytes.subspan(head.fixed_size);
  if (tail.size() != head.tail_size) return std::nullopt;
  return packet{.type = head.type,
                .fixed = bytes.first(head.fixed_size),
                .tail = {reinterpret_cast<const char*>(tail.data()), tail.size()}};
}

/// The size of the message in the first release that had it.
template <guard_message M>
constexpr std::size_t least_size() {
  if constexpr (requires { M::first_size; }) {
    return M::first_size;
  } else {
    return sizeof(M);
  }
}

/// The packet as this message; nothing if it is another message or shorter than ever defined. A
/// longer one comes from a newer release and is cut; fields that an earlier release lacks are zero.
template <guard_message M>
[[nodiscard]] std::optional<M> as(const packet& from) {
  if (from.type != M::type || from.fixed.size() < least_size<M>()) return std::nullopt;
  M what;
  std::memset(static_cast<void*>(&what), 0, sizeof what);
  std::memcpy(&what, from.fixed.data(), std::min(sizeof what, from.fixed.size()));
  return what;
}

}  // namespace tenure::guard
