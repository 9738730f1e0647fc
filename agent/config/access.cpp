#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "config/provenance.hpp"
#include "settings/endpoint.hpp"
#include "settings/store_kind.hpp"

namespace tenure::config {
namespace {

/// The default port of a URL while the store is not known.
constexpr std::uint16_t any_port = 1;
constexpr core::duration most_lock_delay = std::chrono::seconds(60);

std::string how_to_give_an_endpoint(std::string_view store, const provenance& known) {
  constexpr setting which = setting::endpoint;
  const settings::store_kind* const kind = settings::find_store_kind(store);
  if (kind == nullptr) return "say where the store is with " + known.written(which);
  const std::string example = known.written(which, kind->example);
  return kind->is_file()
             ? "give the path of a file that all members on this host share, such as " + example
         : kind->in_pods ? "outside of a pod, say where it is, such as " + example
                         : "say where " + std::string(kind->name) + " is, such as " + example;
}

/// Lives for one call of `check_access`.
class access_check {
 public:
  access_check(const configuration& s, provenance& known)
      : s_(s),
        known_(known),
        kind_(settings::find_store_kind(s.store)),
        file_(kind_ != nullptr && kind_->is_file()) {}

  void run() {
    check_endpoints();
    if (kind_ != nullptr) {
      kind_->has_agents ? check_consul() : refuse(consul_settings, "the store consul");
      if (!kind_->in_pods) refuse(kubernetes_settings, "the store kubernetes");
      kind_->has_tokens ? refuse_passwords()
                        : refuse(token_settings, "the stores consul and kubernetes");
    }
    if (file_) {
      refuse_what_only_servers_have();
      return;
    }
    need(setting::key_file, setting::certificate_file);
    need(setting::certificate_file, setting::key_file);
    need(setting::password_file, setting::user);
    need(setting::user, setting::password_file);
    need(setting::kubeconfig, setting::kube_context);
    // A wrong endpoint does not tell whether TLS was meant.
    if (!all_good_ || good_.empty()) return;
    check_tls();
    check_secret_in_the_clear();
  }

 private:
  struct good_endpoint {
    std::string_view text;
    settings::endpoint server;
  };

  void check_endpoints() {
    constexpr setting which = setting::endpoint;
    const std::vector<std::string>& all = s_.endpoints;
    // A kubeconfig that could not be read here would have said it.
    if (known_.is_missing(which) && !known_.is_given(setting::kubeconfig)) {
      const bool is_in_pod = kind_ != nullptr && kind_->in_pods && known_.may_be_for_a_pod();
      is_in_pod
          ? known_.warn(setting::store, "endpoint is missing: only a pod knows that of its cluster",
                        "outside of a pod, give endpoint or kubeconfig")
          : known_.reject_missing(which, how_to_give_an_endpoint(s_.store, known_));
    }
    if (all.size() > max_endpoints) {
      known_.reject(which, "endpoint has " + std::to_string(all.size()) + " values",
                    "give no more than " + std::to_string(max_endpoints));
    }
    all_good_ = !known_.is_bad(which);
    std::set<std::string_view> seen;
    for (const std::string& one : all) {
      seen.insert(one).second ? check_endpoint(one) : reject_twin(one);
    }
    if (file_ && all.size() > 1) {
      known_.reject(which, s_.store + " is one file, and endpoint has several values",
                    "give one path");
    }
  }

  void reject_twin(const std::string& one) {
    known_.reject(setting::endpoint,
                  "endpoint " + settings::quote_endpoint(one) + " is given twice", "remove one");
  }

  void check_endpoint(const std::string& one) {
    if (file_ && one.contains("://")) {
      known_.reject(
          setting::endpoint,
          "endpoint " + settings::quote_endpoint(one) + " is a URL, and " + s_.store + " is a file",
          "give the path of a file on a local disk");
    }
    // A user in a URL is refused for every store, even if the store is not known yet.
    const bool user_in_url = !file_ && one.contains("://") && settings::has_user(one);
    if ((file_ || kind_ == nullptr) && !user_in_url) return;
    const std::uint16_t port = kind_ == nullptr ? any_port : kind_->default_port;
    parsed<settings::endpoint> server = kind_ != nullptr && kind_->has_agents
                                            ? settings::parse_local_endpoint(one, port)
                                            : settings::parse_endpoint(one, port);
    if (server) {
      const bool is_twin = std::ranges::find(good_, *server, &good_endpoint::server) != good_.end();
      if (is_twin) return reject_twin(one);
      good_.push_back({one, std::move(*server)});
      return;
    }
    all_good_ = false;
    known_.reject(setting::endpoint, "endpoint " + server.error().what, server.error().suggestion);
  }

  /// `other` was given, so `which` must be.
  void need(setting which, setting other) {
    if (!known_.is_given(other) || !known_.is_missing(which)) return;
    std::string suggestion = "give both, or none";
    if (which == setting::key_file) suggestion += "; they may be one file";
    if (which == setting::kubeconfig) suggestion = "name the file that has this context";
    if (which == setting::password_file) {
      suggestion = "name the file that holds the password of this user";
    }
    known_.reject(other, key_of(other) + " is given without " + key_of(which),
                  std::move(suggestion));
  }

  void refuse_what_only_servers_have() {
    const auto refuse = [this](setting which) {
      if (!known_.is_given(which)) return;
      known_.reject(which,
                    key_of(which) + " is given, and " + s_.store + " is a file, not a server",
                    "remove it; who may open the file decides who takes part");
    };
    std::ranges::for_each(tls_settings, refuse);
    std::ranges::for_each(sign_in_settings, refuse);
  }

  void refuse(std::span<const setting> others, std::string_view owner) {
    for (const setting which : others) {
      if (!known_.is_given(which)) continue;
      known_.reject(which, key_of(which) + " is given, and " + s_.store + " has no such thing",
                    "remove it; it is for " + std::string(owner));
    }
  }

  void refuse_passwords() {
    for (const setting which : sign_in_settings) {
      if (!known_.is_given(which)) continue;
      known_.reject(which,
                    key_of(which) + " is given, and " + std::string(kind_->title) +
                        " has tokens instead of users",
                    "name the file that holds the token as " + known_.written(setting::token_file));
    }
  }

  void check_consul() {
    if (s_.consul.lock_delay > most_lock_delay) {
      known_.reject(setting::session_lock_delay,
                    "session_lock_delay is " + core::text(s_.consul.lock_delay),
                    "give no more than " + core::text(most_lock_delay));
    }
    for (const setting which : {setting::node_check, setting::service_check}) {
      const std::size_t count =
          (which == setting::node_check ? s_.consul.node_checks : s_.consul.service_checks).size();
      if (count <= max_checks) continue;
      known_.reject(which, key_of(which) + " has " + std::to_string(count) + " values",
                    "give no more than " + std::to_string(max_checks));
    }
  }

  void check_tls() {
    const auto plain = std::ranges::find(good_, false, [](const auto& e) { return e.server.tls; });
    if (plain == good_.end()) return;
    if (!std::ranges::all_of(good_, [](const auto& e) { return !e.server.tls; })) {
      known_.warn(setting::endpoint,
                  "endpoint " + quote(plain->text) + " is plain http, and others are https",
                  "write https:// there, or what goes to it can be read and changed on the way");
      return;
    }
    const auto first = std::ranges::find_if(
        tls_settings, [this](setting which) { return known_.is_given(which); });
    if (first == tls_settings.end()) return;
    known_.reject(
        *first, key_of(*first) + " is given, but no endpoint is https: nothing would be encrypted",
        "write endpoint as https://..., or remove what is for TLS");
  }

  void check_secret_in_the_clear() {
    const bool has_token = known_.is_given(setting::token_file);
    if (!known_.is_given(setting::user) && !has_token) return;
    for (const good_endpoint& one : good_) {
      const bool stays_here =
          !one.server.socket_path.empty() || settings::is_loopback(one.server.host);
      if (one.server.tls || stays_here) continue;
      known_.warn(setting::endpoint,
                  (has_token ? "the token" : "the password of " + quote(s_.secure.user)) +
                      " crosses the network in the clear to " + quote(one.text),
                  "use https");
      return;
    }
  }

  const configuration& s_;
  provenance& known_;
  const settings::store_kind* kind_;
  bool file_;
  bool all_good_ = true;
  std::vector<good_endpoint> good_;
};

void warn_of_undelayed_semaphore(const configuration& s, provenance& known) {
  if (s.consul.lock_delay == core::duration::zero()) return;
  const settings::election unnamed{.name = {}, .slots = s.slots};
  const std::span<const settings::election> all =
      s.elections.empty() ? std::span(&unnamed, 1) : std::span(s.elections);
  const auto several =
      std::ranges::find_if(all, [](const settings::election& one) { return one.slots > 1; });
  if (several == all.end()) return;
  const std::string which = several->name.empty() ? "" : " of election " + quote(several->name);
  known.warn(setting::session_lock_delay,
             "session_lock_delay does nothing for the " + std::to_string(several->slots) +
                 " slots" + which + ": Consul delays locks, not semaphores",
             "give lock_delay the time that the workload needs to die: members wait for it "
             "themselves");
}

/// Gossip ends the session of a machine that is cut off, whose holder cannot hear of it.
void warn_of_gossip(const configuration& s, provenance& known) {
  const bool asks_gossip =
      std::ranges::find(s.consul.node_checks, "serfHealth") != s.consul.node_checks.end();
  if (!asks_gossip || s.consul.lock_delay >= s.timing.ttl) return;
  known.warn(setting::node_check,
             "node_check serfHealth lets another member in while a holder that is cut off from "
             "Consul goes on, for up to its ttl",
             "give session_lock_delay at least the ttl (" + core::text(s.timing.ttl) +
                 ", one slot only), or do without this check");
}

}  // namespace

void check_access(const configuration& s, provenance& known) {
  access_check(s, known).run();
}

void check_lock_delay(const configuration& s, provenance& known) {
  warn_of_undelayed_semaphore(s, known);
  warn_of_gossip(s, known);
}

}  // namespace tenure::config
