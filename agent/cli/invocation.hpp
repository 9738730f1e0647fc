#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "config/load.hpp"

/// The command line, taken apart.
namespace tenure::cli {

enum class output_form { text, json };

/// What `verify` was given; the rest comes from the environment.
struct verify_arguments {
  std::optional<std::string> election;
  std::optional<std::string> api;
  std::optional<std::string> version;
  std::optional<std::string> holder;
  bool fresh = false;
};

/// What `guard` was given, as text.
struct guard_arguments {
  std::string directory;
  std::string drain = "20s";
  std::string stop_signal = "TERM";
  std::optional<std::string> agent_uid;
};

struct invocation {
  std::string verb;                           ///< "exec", "agent", ...
  std::vector<config::name_and_value> flags;  ///< settings, in order: {"--ttl", "15s"}
  std::optional<std::string> config_path;     ///< --config, or `check`'s FILE
  output_form output = output_form::text;
  bool stay = false;    ///< demo
  bool schema = false;  ///< check
  std::string demo_ttl = "3s";
  std::string demo_store = "sqlite";
  std::string demo_etcd = "etcd";  ///< the program
  verify_arguments verify;
  guard_arguments guard;
};

/// Reads the arguments in front of any `--`. Usage errors, --help and --version are answered here,
/// on stderr or stdout; the error is then the status to exit with.
std::expected<invocation, int> parse(int argc, const char* const* argv);

/// Where a `--` stands in argv; argc if there is none.
int separator(int argc, const char* const* argv);

}  // namespace tenure::cli
