#include <algorithm>
#include <array>
#include <set>

#include "config/provenance.hpp"
#include "config/suggest.hpp"
#include "core/check.hpp"
#include "settings/kubernetes_names.hpp"
#include "settings/store_kind.hpp"

namespace tenure::config {
namespace {

constexpr std::array timing_settings{setting::ttl,         setting::renew,      setting::grace,
                                     setting::kill_budget, setting::lock_delay, setting::drift,
                                     setting::drain};

std::size_t place(setting which) {
  return static_cast<std::size_t>(which);
}

bool is_any(std::string_view host) {
  return host == "0.0.0.0" || host == "::";
}

/// Makes a configuration of raw_settings. Lives for one call of `validate`.
class assembly {
 public:
  assembly(raw_settings& from, const inputs& in) : raw_(from), in_(in), known_(from, in, out_) {
    choose();
  }

  configuration finish() {
    for (const field& f : fields()) apply(f);
    out_.listen.is_chosen = known_.is_given(setting::listen);
    out_.probe_listen.is_chosen = known_.is_given(setting::probe_listen);
    check_store();
    check_access(out_, known_);
    warn_of_token();
    check_elections();
    check_succession();
    check_target(out_, known_);
    check_identity();
    check_timing();
    check_lock_delay(out_, known_);
    check_hooks(out_, known_);
    check_health(out_, known_);
    check_listeners();
    check_peers();
    check_kubernetes(out_, in_, known_);
    return std::move(out_);
  }

 private:
  /// The last one wins: sources come in order of precedence, the weakest first.
  void choose() {
    for (const assignment& a : raw_.given) {
      chosen_[place(a.which)] = &a;
      out_.origins[place(a.which)] = a.from;
    }
    for (const inlined_setting& one : raw_.inlined_settings) {
      out_.origins[place(one.which)] = one.from;
    }
    out_.secure.inlined = std::move(raw_.inlined);
    out_.warnings = std::move(raw_.warnings);
  }

  void apply(const field& f) {
    if (const assignment* const a = chosen_[place(f.which)]) {
      f.in.put(out_, f, a->what);
    } else if (!f.fallback.empty()) {
      const parsed<value> usual = parse_value(f, f.fallback);
      TENURE_CHECK(usual.has_value());
      f.in.put(out_, f, *usual);
    }
  }

  void check_store() {
    if (known_.is_missing(setting::store)) {
      known_.reject_missing(
          setting::store, "give " + known_.written(setting::store, choices(settings::store_names)));
    }
    if (out_.store.empty() || settings::find_store_kind(out_.store) != nullptr) return;
    known_.reject(setting::store, "store " + quote(out_.store) + " is not in this build",
                  "give " + choices(settings::store_names));
  }

  /// Consul would be asked without the token that the command `consul` would use here.
  void warn_of_token() {
    const settings::store_kind* const kind = settings::find_store_kind(out_.store);
    if (kind == nullptr || !kind->has_agents) return;
    const auto token = std::ranges::find(in_.environment, consul_token, &name_and_value::first);
    if (token == in_.environment.end() || token->second.empty()) return;
    if (known_.is_given(setting::token_file) || known_.is_bad(setting::token_file)) return;
    out_.warnings.push_back(
        {std::string(consul_token), "the token in this variable is not used: it is never read",
         "write it to a file, and name that with " + known_.written(setting::token_file)});
  }

  void check_elections() {
    const assignment* const one = chosen_[place(setting::election)];
    const assignment* const list = chosen_[place(setting::elections)];
    if (known_.is_missing(setting::election) && known_.is_missing(setting::elections)) {
      known_.reject_missing(setting::election, "give the name that all members share, such as " +
                                                   known_.written(setting::election, "db"));
      return;
    }
    if (one != nullptr && list != nullptr && one->from.from == source::file) {
      raw_.reject({one->from.where, "election and elections are both given",
                   "put all names into elections"});
      return;
    }
    // `elections` is in the file only, so a flag or variable with names takes precedence.
    const assignment* const names = one != nullptr ? one : list;
    if (names == nullptr) return;
    if (one != nullptr) out_.origins[place(setting::elections)] = {};
    for (const named_election& e : std::get<std::vector<named_election>>(names->what)) {
      out_.elections.push_back({e.name, e.slots.value_or(out_.slots)});
    }
    check_names(*names);
  }

  void check_names(const assignment& names) {
    const std::string& where = names.from.where;
    if (out_.elections.size() > max_elections) {
      raw_.reject({where, "there are " + std::to_string(out_.elections.size()) + " elections",
                   "give no more than " + std::to_string(max_elections) + " to one agent"});
    }
    std::set<std::string_view> seen;
    for (const settings::election& e : out_.elections) {
      if (!seen.insert(e.name).second) {
        raw_.reject({where, "election " + quote(e.name) + " is given twice", "remove one"});
      }
    }
    const settings::store_kind* const kind = settings::find_store_kind(out_.store);
    for (const std::string_view name : seen) {
      const std::string why =
          kind != nullptr && kind->in_pods ? settings::why_not_a_lease_name(name) : std::string();
      if (!why.empty()) {
        raw_.reject({where, "election " + quote(name) + " cannot be the name of a Lease: " + why,
                     "choose another name"});
      }
      // etcd and ZooKeeper keep the candidates of `a` as children of `a`, where `a/b` would be one.
      for (std::size_t slash = name.find('/'); slash != name.npos;
           slash = name.find('/', slash + 1)) {
        const std::string_view parent = name.substr(0, slash);
        if (!seen.contains(parent)) continue;
        raw_.reject(
            {where, "elections " + quote(parent) + " and " + quote(name) + " are inside each other",
             "give one of them another name"});
      }
    }
  }

  void check_succession() {
    const std::int32_t priority = out_.succeeds.priority;
    if (priority > 0 && out_.unlisted && !out_.observe) {
      known_.warn(setting::priority,
                  "priority is " + std::to_string(priority) +
                      ", and unlisted is true: a member that is not listed comes behind all that "
                      "are",
                  "remove one of them");
    }
    if (!out_.succeeds.preempt) return;
    const auto several = [](const settings::election& e) { return e.slots > 1; };
    const auto shared = std::ranges::find_if(out_.elections, several);
    if (shared == out_.elections.end()) return;
    known_.reject(setting::preempt,
                  "preempt is true, and election " + quote(shared->name) + " has " +
                      std::to_string(shared->slots) +
                      " slots: a holder makes way for others only if it is the only one",
                  "give the election one slot, or remove preempt");
  }

  void check_identity() {
    if (known_.is_given(setting::identity) || known_.is_bad(setting::identity) ||
        !raw_.file_usable) {
      return;
    }
    parsed<value> usual = parse_value(field_of(setting::identity), in_.host_name);
    if (usual) {
      out_.identity = std::get<std::string>(std::move(*usual));
      return;
    }
    raw_.reject({"", "identity, by default the host name, " + usual.error().what,
                 "give " + known_.written(setting::identity)});
  }

  void check_timing() {
    // A budget with a bad value cannot be added up.
    const auto is_bad = [this](setting s) { return known_.is_bad(s); };
    if (std::ranges::any_of(timing_settings, is_bad)) return;
    auto resolved = core::resolve(out_.asked);
    if (resolved) {
      out_.timing = *resolved;
      check_whole_seconds();
      check_least_ttl();
      check_least_renew();
      return;
    }
    for (core::timing_problem& p : resolved.error()) {
      known_.reject(to_blame(p.setting), std::move(p.text), "");
    }
  }

  void check_whole_seconds() {
    const core::duration ttl = out_.timing.ttl;
    const core::duration granted = std::chrono::ceil<std::chrono::seconds>(ttl);
    const settings::store_kind* const kind = settings::find_store_kind(out_.store);
    if (kind == nullptr || !kind->whole_seconds || granted == ttl) return;
    known_.warn(setting::ttl,
                "ttl is " + core::text(ttl) + "; " + std::string(kind->name) +
                    " grants whole seconds, here " + core::text(granted),
                "give " + core::text(granted));
  }

  void check_least_ttl() {
    const settings::store_kind* const kind = settings::find_store_kind(out_.store);
    if (kind == nullptr || out_.timing.ttl >= kind->least_ttl) return;
    known_.warn(setting::ttl,
                "ttl is " + core::text(out_.timing.ttl) + "; " + std::string(kind->name) +
                    " grants no less than " + core::text(kind->least_ttl) +
                    " unless its servers are configured to",
                "set session_ttl_min of all Consul servers, or give a longer one");
  }

  void check_least_renew() {
    const settings::store_kind* const kind = settings::find_store_kind(out_.store);
    if (kind == nullptr || out_.timing.renew >= kind->least_renew) return;
    const bool is_given = known_.is_given(setting::renew);
    known_.reject(is_given ? setting::renew : setting::ttl,
                  "renew is " + core::text(out_.timing.renew) +
                      (is_given ? "" : ", a third of ttl") + "; in " + std::string(kind->name) +
                      " a lease is not renewed more often than "
                      "every " +
                      core::text(kind->least_renew),
                  is_given ? "give a longer one"
                           : "give a ttl of at least " + core::text(3 * kind->least_renew));
  }

  /// The setting whose line the user should look at: one that was given, because defaults that
  /// follow from the TTL always add up.
  [[nodiscard]] setting to_blame(std::string_view named) const {
    const auto row = std::ranges::find(fields(), named, &field::key);
    TENURE_CHECK(row != fields().end());
    if (known_.is_given(row->which)) return row->which;
    for (const setting s : {setting::kill_budget, setting::grace, setting::renew, setting::ttl}) {
      if (known_.is_given(s)) return s;
    }
    return setting::drift;
  }

  void check_listeners() {
    const settings::listener& api = out_.listen;
    const settings::listener& probe = out_.probe_listen;
    if (out_.socket.size() > max_socket_path_bytes) {
      known_.reject(setting::socket,
                    "socket is " + std::to_string(out_.socket.size()) + " bytes long",
                    "give a path of up to " + std::to_string(max_socket_path_bytes) + " bytes");
    }
    if (api.at && !settings::is_loopback(api.at->host)) {
      known_.warn(setting::listen,
                  "the API listens on " + text(api) + ", where other machines may reach it",
                  "listen on 127.0.0.1 unless they must");
      if (known_.is_given(setting::control_token_file)) {
        known_.warn(setting::control_token_file,
                    "the API has no TLS, so the control token crosses the network readable for "
                    "all who are on the way to " +
                        text(api),
                    "listen on 127.0.0.1 behind a proxy with TLS, or give orders over the Unix "
                    "socket, e.g. through ssh or kubectl exec");
      }
    }
    check_allowed_hosts();
    const bool same_port =
        api.at && probe.at && api.at->port != 0 && api.at->port == probe.at->port;
    if (same_port &&
        (api.at->host == probe.at->host || is_any(api.at->host) || is_any(probe.at->host))) {
      known_.reject(
          api.is_chosen ? setting::listen : setting::probe_listen,
          "listen " + text(api) + " and probe_listen " + text(probe) + " are the same port",
          "give one of them another");
    }
  }

  void check_peers() {
    settings::listener& peer = out_.peer_listen;
    if (!peer.at) return;
    if (is_any(peer.at->host)) say_own_address(peer);
    if (out_.store.empty() || out_.store == "etcd") return;
    known_.warn(setting::peer_listen, "store " + out_.store + " makes no use of peer_listen",
                "leave it out");
  }

  /// Other members need an address of this machine alone. In a pod it is known.
  void say_own_address(settings::listener& peer) {
    if (const auto& of_pod = out_.kubernetes.pod_addresses; !of_pod.empty()) {
      peer.at->host = of_pod.front();
      return;
    }
    known_.reject(setting::peer_listen,
                  "peer_listen " + text(peer) + " is an address of every machine",
                  "give the one at which the other members reach this machine; in a pod, set " +
                      std::string(field_of(setting::pod_address).environment));
  }

  void check_allowed_hosts() {
    const std::vector<std::string>& all = out_.allowed_hosts;
    if (all.size() > max_allowed_hosts) {
      known_.reject(setting::allowed_host,
                    "allowed_host has " + std::to_string(all.size()) + " values",
                    "give no more than " + std::to_string(max_allowed_hosts));
    }
    std::set<std::string_view> seen;
    for (const std::string& one : all) {
      if (seen.insert(one).second) continue;
      known_.reject(setting::allowed_host, "allowed_host " + quote(one) + " is given twice",
                    "remove one");
    }
  }

  raw_settings& raw_;
  const inputs& in_;
  std::array<const assignment*, setting_count> chosen_{};
  configuration out_;
  provenance known_;
};

}  // namespace

std::expected<configuration, std::vector<problem>> validate(raw_settings from, const inputs& in) {
  configuration out = assembly(from, in).finish();
  if (!from.problems.empty()) return std::unexpected(std::move(from.problems));
  return out;
}

}  // namespace tenure::config
