#include "cli/commands.hpp"

#include <algorithm>
#include <array>

#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

using runtime::exit_bad_settings;
using runtime::exit_cannot_tell;
using runtime::exit_failed;
using runtime::exit_lease_lost;
using runtime::exit_no_agent;
using runtime::exit_ok;
using runtime::exit_timed_out;

constexpr std::array<std::string_view, 2> text_or_json{"text", "json"};
constexpr std::array<std::string_view, 2> table_or_json{"table", "json"};
constexpr std::array<std::string_view, 3> demo_stores{"sqlite", "etcd", "consul"};
constexpr std::array<std::string_view, 3> shells{"bash", "zsh", "fish"};
constexpr std::array<std::string_view, 5> probes{"livez", "readyz", "leader", "primary", "replica"};
constexpr std::array<std::string_view, 5> conditions{"active", "standby", "holder=", "held",
                                                     "vacant"};

constexpr option output{.name = "--output",
                        .metavar = "FORM",
                        .doc = "How to print [text]",
                        .takes = value_kind::word,
                        .words = text_or_json,
                        .also = "-o"};
constexpr option table_output{.name = "--output",
                              .metavar = "FORM",
                              .doc = "How to print: a table, or the agent's own answer [table]",
                              .takes = value_kind::word,
                              .words = table_or_json,
                              .also = "-o"};
constexpr option answer_output{.name = "--output",
                               .metavar = "FORM",
                               .doc = "How to print: a sentence, or the agent's own answer [text]",
                               .takes = value_kind::word,
                               .words = text_or_json,
                               .also = "-o"};
constexpr option api{.name = "--api",
                     .metavar = "URL",
                     .doc =
                         "The agent to ask: http://HOST:PORT or unix:/PATH [TENURE_API, else "
                         "http://127.0.0.1:4040]"};
constexpr option the_election{
    .name = "ELECTION",
    .doc = "The election's name [TENURE_ELECTION, else the only one that the agent has]",
    .takes = value_kind::election};
constexpr option token_file{.name = "--token-file",
                            .metavar = "FILE",
                            .doc =
                                "The file with the agent's control token; not needed over its Unix "
                                "socket [TENURE_CONTROL_TOKEN_FILE]",
                            .takes = value_kind::file};
constexpr option no_wait{.name = "--no-wait",
                         .doc = "Return once the agent has accepted the order, before it is done"};
constexpr option order_timeout{
    .name = "--timeout", .metavar = "DURATION", .doc = "How long an accepted order may take [60s]"};
constexpr option of_several{
    .name = "--member",
    .metavar = "MEMBER",
    .doc = "The member that gives the lease up, if several hold it [the holder]",
    .takes = value_kind::member};
constexpr option any_member{
    .name = "--member",
    .metavar = "MEMBER",
    .doc = "The member that the order is for [the member whose agent is asked]",
    .takes = value_kind::member};
constexpr option aside{.name = "--aside",
                       .metavar = "DURATION",
                       .doc = "How long the member does not campaign afterwards [the ttl]"};

constexpr std::array exec_statuses{
    exit_meaning{exit_ok, "stopped on request, or the command ended with 0"},
    exit_meaning{exit_failed, "the agent could not work; stderr says why"},
    exit_meaning{exit_bad_settings, "bad usage or settings"},
    exit_meaning{exit_lease_lost, "lease lost, with --on-lost exit"},
    exit_meaning{125, "the guard cannot work here"},
    exit_meaning{126, "the command cannot be executed"},
    exit_meaning{127, "the command does not exist"}};
constexpr std::array agent_statuses{
    exit_meaning{exit_ok, "stopped on request"},
    exit_meaning{exit_failed, "the agent could not work; stderr says why"},
    exit_meaning{exit_bad_settings, "bad usage or settings"},
    exit_meaning{exit_lease_lost, "lease lost, with --on-lost exit"},
    exit_meaning{125, "the guard of a target cannot work here"}};
constexpr std::array guard_statuses{exit_meaning{exit_ok, "stopped while nothing ran"},
                                    exit_meaning{exit_bad_settings, "bad usage"},
                                    exit_meaning{125, "the guard cannot work here"},
                                    exit_meaning{126, "the command cannot be executed"},
                                    exit_meaning{127, "the command does not exist"}};
constexpr std::array plain_statuses{exit_meaning{exit_ok, "done"},
                                    exit_meaning{exit_bad_settings, "bad usage"}};
constexpr std::array check_statuses{
    exit_meaning{exit_ok, "the file is valid"},
    exit_meaning{exit_bad_settings, "the file is invalid, or bad usage"}};
constexpr std::array explain_statuses{
    exit_meaning{exit_ok, "the budget adds up"},
    exit_meaning{exit_bad_settings, "the budget does not add up, or bad usage"}};
constexpr std::array doctor_statuses{
    exit_meaning{exit_ok, "nothing is BAD"}, exit_meaning{exit_failed, "something is BAD"},
    exit_meaning{exit_bad_settings, "bad usage or settings; stderr says what"}};
constexpr std::array install_statuses{
    exit_meaning{exit_ok, "installed, or there already"},
    exit_meaning{exit_failed, "the directory cannot be written to; stderr says why"},
    exit_meaning{exit_bad_settings, "bad usage"}};
constexpr std::array inject_statuses{
    exit_meaning{exit_ok, "printed"},
    exit_meaning{exit_failed,
                 "the manifest cannot be read, or cannot have the sidecar; stderr says "
                 "why, and nothing is printed"},
    exit_meaning{exit_bad_settings, "bad usage or settings"}};
constexpr std::array demo_statuses{exit_meaning{exit_ok, "done"},
                                   exit_meaning{exit_failed, "a step failed"},
                                   exit_meaning{exit_bad_settings, "bad usage"}};
constexpr exit_meaning refused_here{
    exit_bad_settings, "bad usage, or the agent refuses (e.g. it does not have this election)"};
constexpr exit_meaning cannot_tell{exit_cannot_tell,
                                   "the agent cannot tell now, or the reply is not from an agent"};
constexpr exit_meaning no_agent{exit_no_agent, "no agent has answered"};
constexpr std::array ask_statuses{exit_meaning{exit_ok, "answered"}, refused_here, cannot_tell,
                                  no_agent};
constexpr std::array status_statuses{
    exit_meaning{exit_ok, "answered"}, refused_here,
    exit_meaning{exit_cannot_tell,
                 "the agent cannot tell now, one of several agents did not answer, or a reply is "
                 "not from an agent"},
    no_agent};
constexpr std::array verify_statuses{exit_meaning{exit_ok, "valid"},
                                     exit_meaning{exit_failed, "not valid"}, refused_here,
                                     cannot_tell, no_agent};
constexpr std::array order_statuses{
    exit_meaning{exit_ok, "done; with --no-wait, accepted"},
    exit_meaning{exit_failed, "another member took over, or nothing changed"},
    exit_meaning{exit_bad_settings, "bad usage, or the agent refuses; nothing has changed"},
    cannot_tell,
    no_agent,
    exit_meaning{exit_timed_out, "accepted, but not done within --timeout"}};
constexpr std::array wait_statuses{
    exit_meaning{exit_ok, "condition met"}, refused_here,
    exit_meaning{exit_cannot_tell, "at the end of --timeout the agent could not tell"},
    exit_meaning{exit_no_agent, "at the end of --timeout no agent answered"},
    exit_meaning{exit_timed_out, "condition not met within --timeout"}};
constexpr std::array probe_statuses{exit_meaning{exit_ok, "yes"},
                                    exit_meaning{exit_failed, "no, or no answer"},
                                    exit_meaning{exit_bad_settings,
                                                 "bad usage, an election that the agent does not "
                                                 "have, or several local agents and no --api"}};

constexpr std::array older_flags{
    option{.name = "--id",
           .metavar = "NAME",
           .doc = "The same as --identity, as the leader-elector sidecar calls it"},
    option{.name = "--http",
           .metavar = "ADDRESS",
           .doc = "The same as --listen, as the leader-elector sidecar calls it"},
    option{.name = "--election-namespace",
           .metavar = "NAME",
           .doc = "The same as --namespace, as the leader-elector sidecar calls it"}};

constexpr std::array guard_flags{
    option{
        .name = "--dir",
        .metavar = "DIR",
        .doc =
            "The directory shared with the agent's container, its --guard-dir [TENURE_GUARD_DIR]",
        .takes = value_kind::directory},
    option{.name = "--drain",
           .metavar = "DURATION",
           .doc = "How long the command may take to end when the guard itself is stopped [20s]"},
    option{
        .name = "--stop-signal",
        .metavar = "SIGNAL",
        .doc =
            "The signal that asks the command to end, unless the agent names another one [TERM]"},
    option{.name = "--agent-uid",
           .metavar = "UID",
           .doc = "The user of an agent that runs neither as the guard's own user nor as root"},
    option{.name = "--probe",
           .doc = "Beside a guard, in its container: execute the command, a probe, while the "
                  "guard's command runs, and end with 0 otherwise"},
    option{
        .name = "--delay",
        .metavar = "DURATION",
        .doc = "With --probe: end with 0 for so long after the guard's command has started [0s]"}};

constexpr std::array check_words{
    option{.name = "FILE", .doc = "The file to check", .takes = value_kind::file}};
constexpr std::array check_flags{
    option{.name = "--schema", .doc = "Print the JSON Schema of the file, for editors"}, output};
constexpr std::array output_only{output};

constexpr std::array one_election{the_election};
constexpr std::array status_words{option{.name = "ELECTION",
                                         .doc = "Only this election [all that the agent has]",
                                         .takes = value_kind::election}};
constexpr std::array status_flags{
    option{.name = "--api",
           .metavar = "URL",
           .doc = "An agent to ask: http://HOST:PORT or unix:/PATH; several make one table "
                  "[TENURE_API, else http://127.0.0.1:4040]",
           .repeatable = true},
    option{
        .name = "--watch", .doc = "Keep running, and show each change as it happens", .also = "-w"},
    table_output};

constexpr std::array verify_words{option{.name = "ELECTION",
                                         .doc = "The election's name [TENURE_ELECTION]",
                                         .takes = value_kind::election}};
constexpr std::array verify_flags{
    option{.name = "--version", .metavar = "N", .doc = "The version to check [TENURE_VERSION]"},
    option{.name = "--sequencer",
           .metavar = "TEXT",
           .doc = "The store's own proof of the term, instead of the version or beside it"},
    option{
        .name = "--holder",
        .metavar = "IDENTITY",
        .doc = "The holder to expect [TENURE_IDENTITY if the version is TENURE_VERSION, else any]",
        .takes = value_kind::member},
    api,
    option{.name = "--fresh", .doc = "Let the agent read the store instead of using its watch"},
    output};

constexpr std::array resign_flags{option{.name = "--to",
                                         .metavar = "MEMBER",
                                         .doc = "The next holder [the first to campaign]",
                                         .takes = value_kind::member},
                                  aside,
                                  of_several,
                                  api,
                                  token_file,
                                  no_wait,
                                  order_timeout,
                                  answer_output};
constexpr std::array transfer_words{option{.name = "TO",
                                           .doc = "The next holder",
                                           .takes = value_kind::member,
                                           .required = true,
                                           .also = "--to"},
                                    the_election};
constexpr std::array transfer_flags{aside,   of_several,    api,          token_file,
                                    no_wait, order_timeout, answer_output};
constexpr std::array pause_flags{any_member, api,           token_file,
                                 no_wait,    order_timeout, answer_output};

constexpr std::array set_flags{
    option{.name = "--accept-versions",
           .doc = "After a restore of the store: start versions again from its present one"},
    api, token_file, answer_output};

constexpr std::array wait_flags{
    option{.name = "--for",
           .metavar = "STATE",
           .doc = "What to wait for: active, standby, holder=MEMBER, held or vacant",
           .takes = value_kind::state,
           .words = conditions,
           .required = true},
    api, option{.name = "--timeout", .metavar = "DURATION", .doc = "How long to wait [for ever]"},
    answer_output};

constexpr std::array history_flags{
    option{.name = "--limit", .metavar = "N", .doc = "The newest N terms only [all]"}, api,
    table_output};

constexpr std::array probe_words{
    option{.name = "PROBE",
           .doc = "What to ask",
           .takes = value_kind::word,
           .words = probes,
           .required = true},
    option{.name = "ELECTION",
           .doc = "For leader, primary and replica [the agent's first]",
           .takes = value_kind::election}};
constexpr std::array probe_flags{option{
    .name = "--api",
    .metavar = "URL",
    .doc =
        "The agent to ask: its API or its probe listener [TENURE_API, else http://127.0.0.1:4040]",
    .also = "--url"}};

constexpr std::array install_words{option{.name = "DIR",
                                          .doc = "The directory to copy the program to",
                                          .takes = value_kind::directory,
                                          .required = true}};
constexpr std::array install_flags{
    option{.name = "--guard-dir",
           .metavar = "DIR",
           .doc = "Also make this directory, where a guard of any user meets an agent of this one",
           .takes = value_kind::directory},
    output};

constexpr std::array inject_words{option{.name = "FILE",
                                         .doc = "The manifest; - for standard input",
                                         .takes = value_kind::file,
                                         .required = true}};
constexpr std::array inject_flags{
    option{.name = "--uninject", .doc = "Print the manifest as it was before, byte for byte"},
    option{.name = "--workload",
           .metavar = "NAME",
           .doc = "Which one, of several in the file: its name, or KIND/NAME [the only one]"},
    option{.name = "--container",
           .metavar = "NAME",
           .doc = "The container whose command runs only while active [the only one]"},
    option{.name = "--command",
           .metavar = "COMMAND",
           .doc = "What the image of this container starts, where the manifest does not say"},
    option{.name = "--run-as",
           .metavar = "UID",
           .doc =
               "The user that this container runs as, for a sidecar of the same user [the sidecar "
               "runs as the user of its image, where the manifest names none]"},
    option{.name = "--image",
           .metavar = "IMAGE",
           .doc = "The image of the sidecar [tenure:VERSION, of this program's version]"},
    option{.name = "--mount",
           .metavar = "VOLUME:PATH",
           .doc = "A volume of the pod for the agent, read-only, e.g. with certificates",
           .repeatable = true},
    option{.name = "--requests",
           .metavar = "QUANTITIES",
           .doc = "Resources that both containers of the sidecar request; those of --limits, or "
                  "[cpu=10m,memory=16Mi]"},
    option{.name = "--limits",
           .metavar = "QUANTITIES",
           .doc = "Limits of their resources; with those for cpu and memory a pod stays "
                  "Guaranteed [memory=32Mi]"},
    option{.name = "--rbac",
           .doc = "Add a Role with the rights that the agent needs, bound to the pod's "
                  "ServiceAccount"}};

constexpr std::array demo_flags{
    option{.name = "--stay", .doc = "Keep the agents running until Ctrl-C"},
    option{.name = "--ttl", .metavar = "DURATION", .doc = "Time to live of the lease [3s]"},
    option{
        .name = "--store",
        .metavar = "STORE",
        .doc =
            "Where to keep the lease; for etcd and consul, the demo starts three servers [sqlite]",
        .takes = value_kind::word,
        .words = demo_stores},
    option{.name = "--etcd",
           .metavar = "PATH",
           .doc = "The etcd program for --store etcd [etcd]",
           .takes = value_kind::file},
    option{.name = "--consul",
           .metavar = "PATH",
           .doc = "The Consul program for --store consul [consul]",
           .takes = value_kind::file}};

constexpr std::array help_words{option{.name = "VERB",
                                       .doc = "The verb to explain [all of them, in short]",
                                       .takes = value_kind::verb}};

constexpr std::array completion_words{option{.name = "SHELL",
                                             .doc = "The shell to make it for",
                                             .takes = value_kind::word,
                                             .words = shells,
                                             .required = true}};

constexpr std::array table{
    command{.name = "exec",
            .summary = "Run a command while this member is the holder",
            .has_settings = true,
            .rest = "COMMAND [ARGUMENTS...]",
            .notes = "Passes on the command's exit status: 128 + N if signal N ended it.",
            .example = "tenure exec --store sqlite --endpoint demo.db --election demo -- sleep 60",
            .statuses = exec_statuses},
    command{.name = "agent",
            .summary =
                "Take part in elections and serve the API; with --guard-dir, for a guard elsewhere",
            .has_settings = true,
            .flags = older_flags,
            .example = "tenure agent --store etcd --endpoint http://127.0.0.1:2379 --election db",
            .statuses = agent_statuses},
    command{.name = "guard",
            .summary = "Run a command while a sidecar agent holds the lease",
            .rest = "COMMAND [ARGUMENTS...]",
            .flags = guard_flags,
            .notes =
                "Starts the command when the agent holds the lease, stops it when the agent gives "
                "the lease up, and kills it before anyone else can get the lease, even if the "
                "agent is dead. Passes on the command's exit status if that ends by itself.",
            .example = "tenure guard --dir /run/tenure -- ./main --flag",
            .statuses = guard_statuses},
    command{.name = "status",
            .summary = "Show who holds, since when, and why the previous holder lost it",
            .words = status_words,
            .flags = status_flags,
            .notes = "With --watch, a terminal shows one table that is kept up to date; elsewhere "
                     "each change is a line, with --output json the agent's answer on a line.",
            .example = "tenure status --watch",
            .statuses = status_statuses},
    command{.name = "wait",
            .summary = "Wait until this member is active, or somebody holds, or nobody does",
            .words = one_election,
            .flags = wait_flags,
            .notes = "active and standby are states of the member whose agent is asked. Also waits "
                     "for an agent that does not answer yet.",
            .example = "tenure wait --for holder=db-1 --timeout 30s",
            .statuses = wait_statuses},
    command{.name = "history",
            .summary = "List the terms of an election: who held, from when to when, why it ended",
            .words = one_election,
            .flags = history_flags,
            .example = "tenure history db --limit 10",
            .statuses = ask_statuses},
    command{.name = "verify",
            .summary = "Ask an agent whether a version is still valid; inside a workload, its own",
            .words = verify_words,
            .flags = verify_flags,
            .notes = "Only status 0 means yes, and only status 1 means no.",
            .example = "tenure verify db --version 7 --holder db-0",
            .statuses = verify_statuses},
    command{.name = "resign",
            .summary = "Let the holder stop its workload and give the lease up",
            .words = one_election,
            .flags = resign_flags,
            .notes = "Stops the workload first, with its full drain time, and releases the lease "
                     "once it is gone. You can ask any agent of the election: it passes the order "
                     "on to the holder's agent through the store.",
            .example = "tenure resign db --token-file /etc/tenure/token",
            .statuses = order_statuses},
    command{.name = "transfer",
            .summary = "Let the holder hand the lease to another member",
            .words = transfer_words,
            .flags = transfer_flags,
            .example = "tenure transfer db-1 db --api unix:/run/tenure.sock",
            .statuses = order_statuses},
    command{.name = "pause",
            .summary = "Keep a member from holding until it is resumed",
            .words = one_election,
            .flags = pause_flags,
            .notes = "A holder stops its workload and gives the lease up first.",
            .example = "tenure pause db",
            .statuses = order_statuses},
    command{.name = "resume",
            .summary = "Let a member that is paused or stands aside campaign again",
            .words = one_election,
            .flags = pause_flags,
            .example = "tenure resume db",
            .statuses = order_statuses},
    command{.name = "set",
            .summary = "Change an election in the store: where versions start",
            .words = one_election,
            .flags = set_flags,
            .notes = "You can ask any agent of the election. The number of slots needs no command: "
                     "it follows the members (`slots` in their settings).",
            .example = "tenure set db --accept-versions",
            .statuses = ask_statuses},
    command{.name = "probe",
            .summary = "Ask a probe of the agent, for exec probes and scripts",
            .words = probe_words,
            .flags = probe_flags,
            .example = "tenure probe leader db",
            .statuses = probe_statuses},
    command{.name = "check",
            .summary = "Check a configuration file and show its settings",
            .words = check_words,
            .flags = check_flags,
            .example = "tenure check tenure.yaml",
            .statuses = check_statuses},
    command{.name = "explain",
            .summary = "Show the time budget and what it means",
            .has_settings = true,
            .flags = output_only,
            .example = "tenure explain --ttl 10s",
            .statuses = explain_statuses},
    command{.name = "doctor",
            .summary = "Check what an agent with these settings depends on, and say what to do",
            .has_settings = true,
            .flags = output_only,
            .notes =
                "Looks at the store, the rights, the pod, the guard, the clocks and a running "
                "agent, and changes nothing. One line each: ok, warn, BAD or skip. Give it the "
                "settings of the agent: in its container, the same file and flags.",
            .example = "tenure doctor --store etcd --endpoint http://127.0.0.1:2379 --election db",
            .statuses = doctor_statuses},
    command{.name = "install",
            .summary = "Copy this program into a directory, for another container",
            .words = install_words,
            .flags = install_flags,
            .notes = "Writes DIR/tenure, which everybody can execute, in one step: it replaces an "
                     "older file while that runs. Writes nothing if this program is there already.",
            .example = "tenure install /shared",
            .statuses = install_statuses},
    command{.name = "inject",
            .summary = "Add the sidecar to a manifest of Kubernetes, or take it out again",
            .has_settings = true,
            .words = inject_words,
            .flags = inject_flags,
            .notes = "Prints the manifest with the agent as a sidecar, and with the guard in front "
                     "of the main container's command. Settings become arguments of the agent; "
                     "--store is kubernetes unless it is given. A second time changes nothing.",
            .example = "tenure inject web.yaml --election web --rbac | kubectl apply -f -",
            .statuses = inject_statuses},
    command{.name = "demo",
            .summary = "Three agents, a killed leader, a fail-over; no set-up",
            .flags = demo_flags,
            .statuses = demo_statuses},
    command{.name = "completion",
            .summary = "Print the completion script of a shell",
            .words = completion_words,
            .notes = "The script asks this program for the words, and the agent for the names of "
                     "its elections.",
            .example = "source <(tenure completion bash)",
            .statuses = plain_statuses},
    command{.name = "man",
            .summary = "Print the manual page",
            .example = "tenure man | man -l -",
            .statuses = plain_statuses},
    command{.name = "help",
            .summary = "Show the options and exit statuses of a verb",
            .words = help_words,
            .example = "tenure help transfer",
            .statuses = plain_statuses},
    command{.name = "version",
            .summary = "Print the version, and with --output json what it was built from",
            .flags = output_only,
            .statuses = plain_statuses},
};

}  // namespace

std::span<const command> commands() {
  return table;
}

const command* command_named(std::string_view name) {
  const auto* const found = std::ranges::find(table, name, &command::name);
  return found == table.end() ? nullptr : found;
}

}  // namespace tenure::cli
