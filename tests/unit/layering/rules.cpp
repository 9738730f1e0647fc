#include "unit/layering/rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

namespace tenure::layering {
namespace {

using std::string_view;

/// A room and those it may know. Arrows go down only.
struct room {
  string_view name;
  std::vector<string_view> knows;
};

const std::vector<room>& table_of_rooms() {
  static const std::vector<room> table{
      {"core", {}},
      {"base", {"core"}},
      {"log", {"core", "base"}},
      // Values alone; `config` reads them, everybody else is set up with them.
      {"settings", {"core", "base", "log"}},
      {"process", {"core", "base"}},
      {"config", {"core", "base", "settings"}},
      // Reads manifests with the parser of config.
      {"manifest", {"core", "base", "settings", "config"}},
      {"http", {"core", "base", "settings"}},
      // What agents tell each other past the store.
      {"peer", {"core", "settings", "http"}},
      {"stores", {"core", "base", "settings", "http"}},
      // What is done to Kubernetes apart from leases, with any store: it gets a client from above.
      {"kube", {"core", "base", "log", "settings"}},
      // Knows nothing of sockets but its own, and of no store.
      {"guard", {"core", "base", "log", "settings", "process"}},
      {"workload", {"core", "base", "log", "settings", "http", "process", "guard"}},
      {"wire", {"core", "base"}},
      {"health", {"core", "base", "log", "settings", "http", "process", "wire"}},
      {"api", {"core", "base", "settings", "http", "wire"}},
      // Shows what is published; api serves the page without knowing what is on it.
      {"metrics", {"core", "base", "http", "api"}},
      {"runtime",
       {"core", "base", "log", "settings", "process", "http", "peer", "stores", "kube", "guard",
        "workload", "health", "api", "metrics"}},
      {"cli",
       {"core", "base", "log", "settings", "process", "config", "manifest", "http", "guard",
        "workload", "wire", "api", "runtime"}},
  };
  return table;
}

/// What core may include: values and algorithms. Nothing that waits, reads, writes or draws.
constexpr std::array<string_view, 30> core_headers{
    "algorithm",    "array",    "bit",         "charconv", "chrono",  "compare",
    "concepts",     "cstddef",  "cstdint",     "cstdio",   "cstdlib", "expected",
    "functional",   "iterator", "limits",      "map",      "memory",  "numeric",
    "optional",     "ranges",   "set",         "span",     "string",  "string_view",
    "system_error", "tuple",    "type_traits", "utility",  "variant", "vector"};

constexpr std::array<string_view, 2> missing_headers{"format", "print"};

enum class how {
  call,    ///< name( , also std::name( and ::name(
  member,  ///< .name( or ->name(
  text,    ///< anywhere in code
};

struct ban {
  string_view what;
  how found;
  string_view why;
  std::vector<string_view> allowed_under;  ///< prefixes of paths
};

const std::vector<ban>& bans() {
  static constexpr string_view ask_os =
      "time is read by base::boot_now(), so that one clock counts";
  static constexpr string_view signals =
      "only guard/ and process/ signal a process, and the demo those that it has started";
  static constexpr string_view wait = "nothing sleeps: wait for an event with a deadline";
  static const std::vector<ban> table{
      // The wall clock is for people, in answers and logs; no decision is made on it.
      {"system_clock::now", how::text, ask_os, {"base/"}},
      {"steady_clock::now", how::text, ask_os, {"base/"}},
      {"high_resolution_clock::now", how::text, ask_os, {"base/"}},
      {"clock_gettime", how::call, ask_os, {"base/"}},
      {"gettimeofday", how::call, ask_os, {"base/"}},
      // One reading of it: what it has missed is how long the machine slept.
      {"CLOCK_MONOTONIC",
       how::text,
       "it stops in suspend while the lease does not",
       {"base/clock_reading.cpp"}},
      {"CLOCK_REALTIME", how::text, "it can be set back", {"base/"}},
      // A file lock that another program holds gives no event; only the store's worker waits so.
      {"sleep_for", how::call, wait, {"stores/sqlite/thread_clock.cpp"}},
      {"sleep_until", how::call, wait, {}},
      {"sleep", how::call, wait, {}},
      {"usleep", how::call, wait, {}},
      {"nanosleep", how::call, wait, {}},
      // Nothing can cancel a look-up of a name or a write to stderr: such a thread owns all it
      // uses.
      {"detach",
       how::member,
       "a detached thread outlives what it uses: own it and join it",
       {"http/client/host_addresses.cpp", "log/line_writer.cpp"}},
      {"io_context",
       how::text,
       "only http/, runtime/ and cli/ run a loop: take an executor or a base::event_loop",
       {"http/", "runtime/", "cli/"}},
      {"kill", how::call, signals, {"guard/", "process/", "cli/demo/"}},
      {"::kill", how::text, signals, {"guard/", "process/", "cli/demo/"}},
      {"killpg", how::call, signals, {}},
      {"tgkill", how::call, signals, {}},
      {"pthread_kill", how::call, signals, {}},
      {"sigqueue", how::call, signals, {}},
      {"pidfd_send_signal", how::text, signals, {"guard/", "process/"}},
      {"SYS_pidfd_send_signal", how::text, signals, {"guard/", "process/"}},
      {"system", how::call, "a shell between us and the process hides what it runs", {}},
      {"popen", how::call, "a shell between us and the process hides what it runs", {}},
      {"rand", how::call, "randomness is an argument, drawn from the kernel", {}},
      {"srand", how::call, "randomness is an argument, drawn from the kernel", {}},
      {"assert", how::call, "it is off in release builds: TENURE_CHECK stays on", {}},
      {"strtok", how::call, "it keeps state between threads", {}},
      {"strerror", how::call, "it is not thread-safe: base::error_text()", {}},
  };
  return table;
}

/// `io.stop()` and the like: the names that a Boost io_context goes by here.
constexpr std::array<string_view, 8> names_of_contexts{
    "io", "io_", "ioc", "ioc_", "context", "context_", "io_context", "io_context_"};

/// A dependency that costs seconds to compile or that we may want to exchange.
struct heavy {
  string_view header;    ///< its includes begin so
  string_view room;      ///< the only one that may know it
  std::size_t files;     ///< at most so many files; 0: as many as the room likes
  string_view in_names;  ///< the file's name has one of these words, separated by '|'; empty: any
  bool in_headers;       ///< may a header include it?
};

/// Headers of Asio, and who may include them; the first row that fits counts. `http` and `runtime`
/// turn a loop; a command of `cli` runs to its end on a loop of its own. Other rooms get an
/// executor from above, and only those that wait for descriptors of their own.
struct part_of_asio {
  string_view header;  ///< its includes begin so
  std::vector<string_view> allowed_under;
};

const std::vector<part_of_asio>& parts_of_asio() {
  static const std::vector<part_of_asio> table{
      {"boost/asio/impl/", {"base/asio.cpp"}},
      {"boost/asio/ssl", {"http/"}},
      {"boost/asio/any_io_executor.hpp",
       {"http/", "runtime/", "process/", "guard/", "workload/", "stores/sqlite/"}},
      {"boost/asio/posix/stream_descriptor.hpp",
       {"http/", "process/", "guard/", "workload/", "stores/sqlite/"}},
      {"boost/asio/steady_timer.hpp", {"http/", "cli/", "workload/"}},
      {"boost/asio/post.hpp", {"http/", "stores/sqlite/worker.cpp"}},
      {"boost/asio/prefer.hpp", {"stores/sqlite/worker.cpp"}},
      {"boost/asio/signal_set.hpp", {"runtime/run_agent.cpp", "cli/client/status_watch.cpp"}},
      {"boost/asio/io_context.hpp", {"http/", "runtime/", "cli/"}},
      {"boost/asio/ip/udp.hpp", {"peer/udp_channel.cpp"}},
      {"boost/asio/buffer.hpp", {"http/", "peer/udp_channel.cpp"}},
      {"boost/asio", {"http/"}},
  };
  return table;
}

constexpr std::array heavies{
    heavy{"sqlite3.h", "stores", 1, "", false},
    heavy{"zookeeper/", "stores", 1, "", false},
    heavy{"msgpuck", "stores", 1, "", false},
    heavy{"yaml-cpp/", "config", 1, "", false},
    heavy{"prometheus/", "metrics", 1, "", false},
    heavy{"boost/beast", "http", 0, "", false},
    heavy{"boost/asio/ssl/stream", "http", 1, "", false},
    heavy{"boost/asio/ssl/context", "http", 2, "tls", false},
    heavy{"openssl/", "http", 0, "tls", true},
    heavy{"nlohmann/json.hpp", "", 0, "codec|schema", false},
    heavy{"nlohmann/json_fwd.hpp", "", 0, "codec|schema", true},
};

bool contains(const auto& all, const auto& one) {
  return std::ranges::find(all, one) != std::ranges::end(all);
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool begins_with_any(string_view path, const std::vector<string_view>& prefixes) {
  return std::ranges::any_of(prefixes, [&](string_view p) { return path.starts_with(p); });
}

/// What stands before the name at `at`: "." or "->" of a member, "x::" of a qualified name, or "".
string_view qualifier(string_view code, std::size_t at) {
  const string_view before = code.substr(0, at);
  if (before.ends_with(".")) return ".";
  if (before.ends_with("->")) return "->";
  if (!before.ends_with("::")) return "";
  std::size_t from = at - 2;
  while (from > 0 && is_word(code[from - 1])) --from;
  return code.substr(from, at - from);
}

/// The name in front of the "." or "->" that ends at `at`.
string_view object(string_view code, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && !is_word(code[end - 1])) --end;
  std::size_t from = end;
  while (from > 0 && is_word(code[from - 1])) --from;
  return code.substr(from, end - from);
}

bool is_called(string_view code, std::size_t after_name) {
  const std::size_t next = code.find_first_not_of(" \t\n", after_name);
  return next != string_view::npos && code[next] == '(';
}

/// Calls `found(offset)` for each whole word `name` in `code`.
void each_word(string_view code, string_view name, auto found) {
  for (std::size_t at = code.find(name); at != string_view::npos; at = code.find(name, at + 1)) {
    const bool begins = at == 0 || !is_word(code[at - 1]);
    const std::size_t end = at + name.size();
    if (begins && (end == code.size() || !is_word(code[end]))) found(at);
  }
}

bool is_found(const ban& b, string_view code, std::size_t at) {
  if (b.found == how::text) return true;
  if (!is_called(code, at + b.what.size())) return false;
  const string_view q = qualifier(code, at);
  const bool member = q == "." || q == "->";
  if (b.found == how::member) return member;
  return q.empty() || q == "::" || q == "std::" || q == "this_thread::";
}

class checker {
 public:
  std::vector<finding> take() { return std::move(findings_); }

  void check_file(const source& s) {
    const std::string code = only_code(s.text);
    const std::vector<include> includes = includes_of(s.text);
    check_rooms(s, includes);
    check_bans(s, code);
    check_contexts(s, code);
    check_shape(s, code, includes);
    check_heavies(s, includes);
    check_asio(s, includes);
  }

  /// After every file: the rules that count files.
  void check_counts() {
    for (const auto& [header, places] : users_) {
      const auto h = std::ranges::find(heavies, header, &heavy::header);
      if (h->files == 0 || places.size() <= h->files) continue;
      for (const finding& place : places) {
        add(place.path, place.line, "heavy dependency",
            "<" + std::string(header) + "> is known to " + std::to_string(places.size()) +
                " files; one .cpp hides it behind an interface of ours");
      }
    }
  }

 private:
  void add(string_view path, std::size_t line, string_view rule, std::string why) {
    findings_.push_back({std::string(path), line, std::string(rule), std::move(why)});
  }

  void check_rooms(const source& s, const std::vector<include>& includes) {
    const string_view own = room_of(s.path);
    const auto here = std::ranges::find(table_of_rooms(), own, &room::name);
    if (here == table_of_rooms().end()) {
      if (!own.empty())
        add(s.path, 1, "rooms", "room \"" + std::string(own) + "\" is not in the table");
      return;
    }
    for (const include& i : includes) {
      if (i.quoted) {
        const string_view other = room_of(i.name);
        if (other == own || contains(here->knows, other)) continue;
        add(s.path, i.line, "rooms",
            std::string(own) + " must not know \"" + i.name + "\": arrows go down only");
      } else if (own == "core" && !contains(core_headers, i.name)) {
        add(s.path, i.line, "pure core",
            "<" + i.name +
                "> is not on core's list: core does no I/O, reads no clock, draws no "
                "random number and starts no thread");
      }
    }
  }

  void check_bans(const source& s, string_view code) {
    for (const ban& b : bans()) {
      if (begins_with_any(s.path, b.allowed_under)) continue;
      each_word(code, b.what, [&](std::size_t at) {
        if (is_found(b, code, at)) {
          add(s.path, line_of(code, at), "banned", std::string(b.what) + ": " + std::string(b.why));
        }
      });
    }
  }

  void check_contexts(const source& s, string_view code) {
    each_word(code, "stop", [&](std::size_t at) {
      const string_view q = qualifier(code, at);
      if ((q != "." && q != "->") || !is_called(code, at + 4)) return;
      if (!contains(names_of_contexts, object(code, at))) return;
      add(s.path, line_of(code, at), "banned",
          "io_context::stop() drops handlers: shutdown is an ordered sequence");
    });
  }

  void check_shape(const source& s, string_view code, const std::vector<include>& includes) {
    if (is_header(s.path)) {
      if (!s.text.starts_with("#pragma once\n")) {
        add(s.path, 1, "shape", "a header begins with #pragma once");
      }
      each_word(code, "using namespace", [&](std::size_t at) {
        add(s.path, line_of(code, at), "shape",
            "using namespace in a header changes the names of everybody who includes it");
      });
    }
    const auto lines = static_cast<std::size_t>(std::ranges::count(s.text, '\n'));
    if (lines > most_lines) {
      add(s.path, lines, "shape",
          std::to_string(lines) + " lines; no file has more than " + std::to_string(most_lines));
    }
    const auto odd = std::ranges::find_if(
        s.text, [](char c) { return static_cast<unsigned char>(c) > 126 || c == '\t'; });
    if (odd != s.text.end()) {
      add(s.path, line_of(s.text, static_cast<std::size_t>(odd - s.text.begin())), "shape",
          "a character that is not printable ASCII; write \\u escapes, spaces and plain quotes");
    }
    const std::string comments = only_comments(s.text);
    for (const string_view word : {"TODO", "FIXME", "XXX", "HACK"}) {
      each_word(comments, word, [&](std::size_t at) {
        add(s.path, line_of(comments, at), "shape", std::string(word) + ": do it or leave it");
      });
    }
    for (const include& i : includes) {
      if (!contains(missing_headers, i.name)) continue;
      add(s.path, i.line, "shape", "<" + i.name + "> does not exist in libstdc++ 12 (Debian 12)");
    }
  }

  void check_heavies(const source& s, const std::vector<include>& includes) {
    for (const heavy& h : heavies) {
      const auto i = std::ranges::find_if(
          includes, [&](const include& one) { return one.name.starts_with(h.header); });
      if (i == includes.end()) continue;
      users_[h.header].push_back({s.path, i->line, {}, {}});
      const std::string what = "<" + i->name + "> ";
      if (!h.room.empty() && room_of(s.path) != h.room) {
        add(s.path, i->line, "heavy dependency", what + "belongs in " + std::string(h.room) + "/");
      }
      if (!h.in_headers && is_header(s.path)) {
        add(s.path, i->line, "heavy dependency",
            what + "in a header is compiled by everybody who includes that; hide it in a .cpp");
      }
      if (!has_a_word(file_name(s.path), h.in_names)) {
        add(s.path, i->line, "heavy dependency",
            what + "is for files named " + std::string(h.in_names) + ": bytes <-> structs there");
      }
    }
  }

  void check_asio(const source& s, const std::vector<include>& includes) {
    for (const include& i : includes) {
      const auto part = std::ranges::find_if(
          parts_of_asio(), [&](const part_of_asio& one) { return i.name.starts_with(one.header); });
      if (part == parts_of_asio().end() || begins_with_any(s.path, part->allowed_under)) continue;
      add(s.path, i.line, "asio",
          "<" + i.name + "> is not for this place: take an executor or a base::event_loop");
    }
  }

  static bool has_a_word(string_view name, string_view words) {
    if (words.empty()) return true;
    while (!words.empty()) {
      const std::size_t bar = std::min(words.find('|'), words.size());
      if (name.find(words.substr(0, bar)) != string_view::npos) return true;
      words.remove_prefix(std::min(bar + 1, words.size()));
    }
    return false;
  }

  std::vector<finding> findings_;
  std::map<string_view, std::vector<finding>> users_;  ///< of each heavy dependency
};

}  // namespace

std::vector<finding> check(std::span<const source> sources) {
  checker all;
  for (const source& s : sources) all.check_file(s);
  all.check_counts();
  return all.take();
}

std::vector<string_view> known_to(string_view name) {
  return std::ranges::find(table_of_rooms(), name, &room::name)->knows;
}

std::vector<string_view> rooms() {
  std::vector<string_view> names;
  for (const room& r : table_of_rooms()) names.push_back(r.name);
  return names;
}

}  // namespace tenure::layering
