#pragma once

#include <array>
#include <string_view>

/// What settings accept: words, and ranges as a person reads them.
namespace tenure::config::accepts {

inline constexpr std::array<std::string_view, 2> stores_of_other_builds{"zookeeper", "tarantool"};
inline constexpr std::array<std::string_view, 2> session_behaviors{"release", "delete"};
inline constexpr std::array<std::string_view, 8> signals{"TERM", "INT",  "QUIT",  "HUP",
                                                         "USR1", "USR2", "WINCH", "PWR"};
inline constexpr std::array<std::string_view, 5> gain_signals{"USR1", "USR2", "HUP", "WINCH",
                                                              "CONT"};
inline constexpr std::array<std::string_view, 2> after_loss{"standby", "exit"};
inline constexpr std::array<std::string_view, 2> health_times{"active", "always"};
inline constexpr std::array<std::string_view, 2> on_standby{"stop", "run"};
inline constexpr std::array<std::string_view, 2> on_gains{"nothing", "signal"};
inline constexpr std::array<std::string_view, 4> traffic_ways{"probe", "gate", "label",
                                                              "endpoints"};
inline constexpr std::array<std::string_view, 2> witnesses{"none", "kubelet"};
inline constexpr std::array<std::string_view, 4> formats{"auto", "text", "logfmt", "json"};
inline constexpr std::array<std::string_view, 4> levels{"debug", "info", "warn", "error"};

inline constexpr std::string_view name_range =
    "1 to 253 letters, digits, `.`, `_`, `-` and `/`; each part between slashes begins with a "
    "letter or digit";
inline constexpr std::string_view pem_range =
    "the path of a PEM file, which is read again when it changes";
inline constexpr std::string_view consul_name =
    "1 to 253 printable ASCII characters without blanks; `consul` only";
inline constexpr std::string_view namespace_name =
    "1 to 253 printable ASCII characters without blanks; `consul` and `kubernetes` only";
inline constexpr std::string_view object_name =
    "up to 253 small letters, digits, `-` and `.`, as Kubernetes names objects";
inline constexpr std::string_view check_ids =
    "one or a list of up to 32 ids, which must exist at every Consul agent that is asked; `consul` "
    "only";
inline constexpr std::string_view no_target =
    "none; give at most one of the three target_ settings that find a workload";
inline constexpr std::string_view listen_range =
    "`ADDRESS:PORT`, `[IPV6]:PORT`, `localhost:PORT` or `off`; port 0 takes any free port";

inline constexpr std::string_view peer_range =
    "`ADDRESS:PORT` or `[IPV6]:PORT` of this machine, as the other members reach it, or `off`; "
    "in a pod `0.0.0.0` is the pod's own address; `etcd` only";

inline constexpr std::string_view url_range =
    "`http://HOST[:PORT][/PATH][?QUERY]`; the host is `localhost`, `127.x.y.z` or `[::1]`";
inline constexpr std::string_view command_range =
    "words separated by blanks; a word that contains blanks is put in single or double quotes; in "
    "the file, also a list of words; no shell is involved";

}  // namespace tenure::config::accepts
