#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <string_view>

#include "cli/invocation.hpp"
#include "config/fields.hpp"
#include "runtime/exit_status.hpp"

#ifndef TENURE_VERSION_TEXT
#error "the build gives the version"
#endif

namespace tenure::cli {
namespace {

/// One row for each setting of the table; what a value means is decided by `config::load`, which
/// knows the file and the environment, too.
void add_settings(CLI::App& verb, invocation& into) {
  verb.add_option_function<std::string>(
          std::string(config::config_flag), [&into](const std::string& v) { into.config_path = v; },
          "Read settings from this YAML file")
      ->type_name("FILE");
  for (const config::field& f : config::fields()) {
    if (f.flag.empty()) continue;
    const std::string flag(f.flag);
    std::string text(f.doc);
    const std::string_view fallback = f.fallback.empty() ? f.derivation : f.fallback;
    if (!fallback.empty()) text += " [" + std::string(fallback) + "]";
    const std::string heading(config::title(f.section));
    if (f.type == config::field_type::boolean) {
      verb.add_flag_function(
              flag, [&into, flag](std::int64_t) { into.flags.emplace_back(flag, "true"); }, text)
          ->group(heading);
      continue;
    }
    CLI::Option* option = verb.add_option_function<std::vector<std::string>>(
        flag,
        [&into, flag](const std::vector<std::string>& values) {
          for (const std::string& v : values) into.flags.emplace_back(flag, v);
        },
        text);
    option->type_name(std::string(f.metavar))->group(heading)->expected(1)->allow_extra_args(false);
    if (f.repeatable()) option->take_all();
  }
}

/// What the verb does not know goes to `config::load` with the rest, which names it together with
/// everything else that is wrong. False, with a word on stderr, if it cannot be a flag at all.
bool take_unknown(const CLI::App& verb, invocation& into) {
  const std::vector<std::string> words = verb.remaining();
  std::string last_flag;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) {
      // Behind an unknown flag it may be a secret, and is not repeated.
      const std::string word = i == 0 ? "\"" + words[i] + "\"" : "word behind " + last_flag;
      std::fprintf(stderr, "tenure %s: unexpected %s%s\n", verb.get_name().c_str(), word.c_str(),
                   verb.get_name() == "exec" ? "; the command to run goes behind --" : "");
      return false;
    }
    const auto equals = words[i].find('=');
    const bool has_value = i + 1 < words.size() && !words[i + 1].starts_with('-');
    last_flag = words[i].substr(0, equals);
    into.flags.emplace_back(last_flag, "");
    if (equals == std::string::npos && has_value) ++i;
  }
  return true;
}

void add_output(CLI::App& verb, invocation& into) {
  verb.add_option("--output", into.output, "How to print: text or json [text]")
      ->type_name("FORM")
      ->transform(CLI::CheckedTransformer(std::map<std::string, output_form>{
          {"text", output_form::text}, {"json", output_form::json}}));
}

void add_verify(CLI::App& verb, invocation& into) {
  const auto keep = [](std::optional<std::string>& in) {
    return [&in](const std::string& v) { in = v; };
  };
  verify_arguments& to = into.verify;
  verb.add_option_function<std::string>("ELECTION", keep(to.election),
                                        "The election's name [TENURE_ELECTION]")
      ->type_name("");
  verb.add_option_function<std::string>("--version", keep(to.version),
                                        "The version to check [TENURE_VERSION]")
      ->type_name("N");
  verb.add_option_function<std::string>(
          "--holder", keep(to.holder),
          "Who must hold under it [TENURE_IDENTITY if the version is TENURE_VERSION, else anybody]")
      ->type_name("IDENTITY");
  verb.add_option_function<std::string>("--api", keep(to.api),
                                        "The agent to ask [TENURE_API, else http://127.0.0.1:4040]")
      ->type_name("URL");
  verb.add_flag("--fresh", to.fresh, "Have the agent read the store, not its watch");
  add_output(verb, into);
  verb.footer(
      "Exit statuses: 0 valid, 1 not valid, 2 bad usage (or an election that the agent does not\n"
      "have), 4 the agent cannot tell, 5 no agent has answered. Only 0 is a yes, only 1 a no.");
}

void add_guard(CLI::App& verb, invocation& into) {
  guard_arguments& to = into.guard;
  verb.add_option("--dir", to.directory,
                  "The directory that is shared with the agent's container, as its --guard-dir")
      ->type_name("DIR")
      ->envname("TENURE_GUARD_DIR");
  verb.add_option("--drain", to.drain,
                  "Time for the command to end when the guard itself is told to [20s]")
      ->type_name("DURATION");
  verb.add_option("--stop-signal", to.stop_signal,
                  "What asks the command to end, unless the agent names another [TERM]")
      ->type_name("SIGNAL");
  verb.add_option_function<std::string>(
          "--agent-uid", [&to](const std::string& v) { to.agent_uid = v; },
          "The user of an agent that runs neither as the guard's own user nor as root")
      ->type_name("UID");
  verb.footer(
      "The command is started when the agent holds the lease, stopped when it gives it up, and\n"
      "killed before the lease can go to somebody else, whatever has become of the agent. Exit\n"
      "statuses: the command's own if it ends by itself, 0 if told to end while nothing ran,\n"
      "125 the guard cannot work here, 126 and 127 as shells do.");
}

}  // namespace

int separator(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") return i;
  }
  return argc;
}

std::expected<invocation, int> parse(int argc, const char* const* argv) {
  const int own = separator(argc, argv);
  invocation out;
  CLI::App app{
      "Runs a workload active/standby: at most one at a time, stopped before its lease ends"};
  app.name("tenure");
  app.require_subcommand(1);
  app.set_version_flag("--version", "tenure " TENURE_VERSION_TEXT);
  app.footer(
      "Try it: tenure exec --store sqlite --endpoint /tmp/demo.db --election demo -- sleep 60\n"
      "Exit statuses: 0 done, 1 failed, 2 bad usage or settings, 3 lease lost with --on-lost "
      "exit;\n"
      "verify also has 4 cannot tell, 5 no agent; see tenure verify --help.\n"
      "exec passes on its command's own (128 + N if signal N ended it, 126 and 127 as shells do).");

  CLI::App* exec = app.add_subcommand(
      "exec",
      "Run a command while this member is the holder: exec [OPTIONS] -- COMMAND [ARGUMENTS...]");
  add_settings(*exec, out);
  CLI::App* agent = app.add_subcommand(
      "agent", "Hold elections and answer on HTTP; with --guard-dir, for a guard elsewhere");
  add_settings(*agent, out);

  CLI::App* guard = app.add_subcommand(
      "guard",
      "Run a command when the agent of a sidecar says so: guard [OPTIONS] -- COMMAND "
      "[ARGUMENTS...]");
  add_guard(*guard, out);

  CLI::App* check = app.add_subcommand("check", "Check a configuration file and show its settings");
  check
      ->add_option_function<std::string>(
          "FILE", [&out](const std::string& v) { out.config_path = v; }, "The file to check")
      ->type_name("");
  check->add_flag("--schema", out.schema, "Print the JSON Schema of the file, for editors");
  add_output(*check, out);

  CLI::App* explain = app.add_subcommand("explain", "Show the time budget and what it means");
  add_settings(*explain, out);
  add_output(*explain, out);

  add_verify(*app.add_subcommand("verify",
                                 "Ask an agent whether a version is in force; inside a workload, "
                                 "its own"),
             out);

  CLI::App* demo =
      app.add_subcommand("demo", "Three agents, a killed leader, a fail-over; no set-up");
  demo->add_flag("--stay", out.stay, "Keep the agents running until Ctrl-C");
  demo->add_option("--ttl", out.demo_ttl, "Time to live of the lease [3s]")->type_name("DURATION");
  demo->add_option("--store", out.demo_store,
                   "Where the lease is kept: sqlite, or etcd, of which three servers are started "
                   "[sqlite]")
      ->type_name("STORE")
      ->check(CLI::IsMember({"sqlite", "etcd"}));
  demo->add_option("--etcd", out.demo_etcd, "The etcd program for that [etcd]")->type_name("PATH");

  CLI::App* version = app.add_subcommand("version", "Print the version");

  for (CLI::App* verb : app.get_subcommands({})) verb->allow_extras();

  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return std::unexpected(runtime::exit_bad_settings);
  }
  try {
    app.parse(own, argv);
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e, std::cout, std::cerr);
    return std::unexpected(status == 0 ? runtime::exit_ok : runtime::exit_bad_settings);
  }
  const CLI::App& verb = *app.get_subcommands().front();
  out.verb = verb.get_name();
  if (!take_unknown(verb, out)) return std::unexpected(runtime::exit_bad_settings);
  const bool has_settings = exec->parsed() || agent->parsed() || explain->parsed();
  if (!has_settings && !out.flags.empty()) {
    std::fprintf(stderr, "tenure %s: unknown option %s; see tenure %s --help\n", out.verb.c_str(),
                 out.flags.front().first.c_str(), out.verb.c_str());
    return std::unexpected(runtime::exit_bad_settings);
  }
  if (version->parsed()) {
    std::puts("tenure " TENURE_VERSION_TEXT);
    return std::unexpected(runtime::exit_ok);
  }
  if (exec->parsed() && own + 1 >= argc) {
    std::fputs(
        "tenure exec: no command to run; give it behind --, e.g.\n"
        "  tenure exec --store sqlite --endpoint /tmp/demo.db --election demo -- ./main --flag\n",
        stderr);
    return std::unexpected(runtime::exit_bad_settings);
  }
  if (guard->parsed() && (own + 1 >= argc || out.guard.directory.empty())) {
    std::fprintf(stderr,
                 "tenure guard: %s, e.g.\n"
                 "  tenure guard --dir /run/tenure -- ./main --flag\n",
                 own + 1 >= argc ? "no command to run; give it behind --"
                                 : "no directory; give the one that is shared with the agent");
    return std::unexpected(runtime::exit_bad_settings);
  }
  if (!exec->parsed() && !guard->parsed() && own < argc) {
    std::fprintf(
        stderr,
        "tenure %s: takes no command behind --; did you mean tenure exec or tenure guard?\n",
        out.verb.c_str());
    return std::unexpected(runtime::exit_bad_settings);
  }
  return out;
}

}  // namespace tenure::cli
