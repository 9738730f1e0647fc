#include "config/other_tools.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "config/raw_settings.hpp"
#include "settings/store_kind.hpp"

namespace tenure::config {
namespace {

using enum other_tool;

constexpr std::string_view consul_address = "CONSUL_HTTP_ADDR";
constexpr std::string_view consul_ssl = "CONSUL_HTTP_SSL";
constexpr std::string_view consul_verify = "CONSUL_HTTP_SSL_VERIFY";
constexpr std::string_view await_namespace = "K8S_AWAIT_ELECTION_LOCK_NAMESPACE";

/// Those of the command `consul` are those of its Go client (api/api.go), less what only
/// `consul connect envoy` reads.
constexpr std::array table{
    other_variable{.of = consul, .name = consul_address, .which = setting::endpoint},
    other_variable{.of = consul, .name = consul_ssl},
    other_variable{.of = consul,
                   .name = consul_verify,
                   .for_tls = true,
                   .why_not = "asks for TLS without a look at the certificate, and Tenure always "
                              "verifies that of a server",
                   .instead = "unset it, and name the CA in CONSUL_CACERT, and with "
                              "CONSUL_TLS_SERVER_NAME what the certificate is for"},
    other_variable{.of = consul, .name = "CONSUL_HTTP_TOKEN_FILE", .which = setting::token_file},
    other_variable{.of = consul, .name = consul_token, .is_secret = true},
    other_variable{.of = consul,
                   .name = "CONSUL_HTTP_AUTH",
                   .is_secret = true,
                   .why_not = "is set, and Tenure signs in to Consul with a token alone",
                   .instead =
                       "unset it, and give an endpoint that needs no user and password, such "
                       "as the agent on this machine"},
    other_variable{
        .of = consul, .name = "CONSUL_CACERT", .which = setting::ca_file, .for_tls = true},
    other_variable{.of = consul,
                   .name = "CONSUL_CAPATH",
                   .for_tls = true,
                   .why_not = "names a folder of CAs, and Tenure reads one file of them",
                   .instead = "put them into one file, one after the other, and name that in "
                              "CONSUL_CACERT",
                   .unless = setting::ca_file},
    other_variable{.of = consul,
                   .name = "CONSUL_CLIENT_CERT",
                   .which = setting::certificate_file,
                   .for_tls = true},
    other_variable{
        .of = consul, .name = "CONSUL_CLIENT_KEY", .which = setting::key_file, .for_tls = true},
    other_variable{.of = consul,
                   .name = "CONSUL_TLS_SERVER_NAME",
                   .which = setting::server_name,
                   .for_tls = true},
    other_variable{.of = consul, .name = "CONSUL_NAMESPACE", .which = setting::name_space},
    other_variable{.of = consul, .name = "CONSUL_PARTITION", .which = setting::partition},

    other_variable{.of = k8s_await_election, .name = await_enabled},
    // For its log alone.
    other_variable{.of = k8s_await_election, .name = "K8S_AWAIT_ELECTION_NAME"},
    other_variable{.of = k8s_await_election,
                   .name = "K8S_AWAIT_ELECTION_LOCK_NAME",
                   .which = setting::election},
    other_variable{.of = k8s_await_election, .name = await_namespace, .which = setting::name_space},
    other_variable{.of = k8s_await_election,
                   .name = "K8S_AWAIT_ELECTION_IDENTITY",
                   .which = setting::identity},
    other_variable{.of = k8s_await_election,
                   .name = "K8S_AWAIT_ELECTION_STATUS_ENDPOINT",
                   .which = setting::probe_listen},
    other_variable{.of = k8s_await_election,
                   .name = "K8S_AWAIT_ELECTION_SERVICE_NAME",
                   .why_not =
                       "asks for a Service that leads to the active pod, and Tenure does not "
                       "write its Endpoints",
                   .instead = "unset it, and say with `traffic` how clients find the active pod: "
                              "docs/traffic.md",
                   .unless = setting::traffic},
    // These two belong to the one above.
    other_variable{.of = k8s_await_election, .name = "K8S_AWAIT_ELECTION_SERVICE_NAMESPACE"},
    other_variable{.of = k8s_await_election, .name = "K8S_AWAIT_ELECTION_SERVICE_PORTS_JSON"},
    other_variable{.of = k8s_await_election,
                   .name = "K8S_AWAIT_ELECTION_POD_IP",
                   .which = setting::pod_address},
    other_variable{.of = k8s_await_election,
                   .name = "K8S_AWAIT_ELECTION_NODE_NAME",
                   .which = setting::pod_node}};

const other_variable* row_of(std::string_view name) {
  const auto* const found = std::ranges::find(table, name, &other_variable::name);
  return found == table.end() ? nullptr : found;
}

/// As Go's strconv.ParseBool, which reads them there; nothing if it could not.
std::optional<bool> truth_of(std::string_view text) {
  constexpr std::array<std::string_view, 6> yes{"1", "t", "T", "true", "TRUE", "True"};
  constexpr std::array<std::string_view, 6> no{"0", "f", "F", "false", "FALSE", "False"};
  if (std::ranges::find(yes, text) != yes.end()) return true;
  return std::ranges::find(no, text) != no.end() ? std::optional(false) : std::nullopt;
}

/// False if all endpoints are plain http: then the command `consul` does not use what it knows of
/// TLS. True if they are not known.
bool may_use_tls(const raw_settings& out) {
  const assignment* const given = strongest(out, setting::endpoint);
  if (given == nullptr) return true;
  const auto* const all = std::get_if<std::vector<std::string>>(&given->what);
  return all == nullptr || std::ranges::any_of(*all, [](const std::string& one) {
           return one.starts_with("https://");
         });
}

/// Lives for one call of `take_variables_of_other_tools`.
class other_variables_source {
 public:
  other_variables_source(std::span<const name_and_value> variables, raw_settings& out)
      : variables_(variables), out_(out) {}

  void take() {
    const settings::store_kind* const kind = kind_of_store(out_);
    if (kind != nullptr && kind->has_agents) take_all_of(consul);
    if (content_of(await_enabled) == nullptr) return;
    holds_leases_ = kind != nullptr && kind->in_pods;
    take_all_of(k8s_await_election);
    reject_unknown();
  }

 private:
  /// Null if it is not set, or empty.
  [[nodiscard]] const std::string* content_of(std::string_view name) const {
    const auto found = std::ranges::find(variables_, name, &name_and_value::first);
    return found == variables_.end() || found->second.empty() ? nullptr : &found->second;
  }

  void take_all_of(other_tool tool) {
    for (const other_variable& one : table) {
      const std::string* const content = one.of == tool ? content_of(one.name) : nullptr;
      if (content == nullptr || (one.for_tls && !may_use_tls(out_))) continue;
      if (!one.why_not.empty()) {
        refuse(one, *content);
      } else if (one.which && !is_given(out_, *one.which)) {
        take_setting(one, *content);
      }
    }
  }

  void refuse(const other_variable& one, const std::string& content) {
    if (one.unless && is_given(out_, *one.unless)) return;
    if (one.name == consul_verify && truth_of(content).value_or(false)) return;
    reject(one, one.why_not, one.instead);
  }

  void take_setting(const other_variable& one, const std::string& content) {
    if (one.name == consul_address) {
      if (const auto address = address_of_consul(one, content)) assign(one, *address);
    } else if (one.name == await_namespace && !holds_leases_) {
      out_.warnings.push_back({std::string(one.name),
                               "is the namespace of a Lease, and this store has no Leases",
                               "unset it; members with another store are another election"});
    } else {
      // ":9999" is every address of the pod there.
      const bool is_port = one.which == setting::probe_listen && content.starts_with(':');
      assign(one, is_port ? "0.0.0.0" + content : content);
    }
  }

  /// As a setting of ours writes it. Which server is asked decides who excludes whom, and whether a
  /// token travels readable: nothing here is guessed.
  std::optional<std::string> address_of_consul(const other_variable& one, std::string text) {
    constexpr std::string_view plain = "http://";
    constexpr std::string_view socket = "unix://";
    const std::string* const tls = content_of(consul_ssl);
    const std::optional<bool> encrypted = tls == nullptr ? false : truth_of(*tls);
    if (!encrypted) {
      out_.bad.set(static_cast<std::size_t>(setting::endpoint));
      out_.reject({std::string(consul_ssl), "is neither true nor false: " + quote(*tls),
                   "give true for TLS, or false for plain http"});
      return std::nullopt;
    }
    if (text.starts_with(socket)) return "unix:" + text.substr(socket.size());
    // There, http:// does not take back what CONSUL_HTTP_SSL asks for.
    if (*encrypted && text.starts_with(plain)) text.erase(0, plain.size());
    const std::size_t scheme = text.find("://");
    const std::string_view host =
        scheme == std::string::npos ? text : std::string_view(text).substr(scheme + 3);
    const std::size_t bracket = host.rfind(']');
    if (host.find(':', bracket == std::string_view::npos ? 0 : bracket) == std::string_view::npos) {
      out_.bad.set(static_cast<std::size_t>(setting::endpoint));
      reject(one, "has no port", "write it out, such as 127.0.0.1:8500");
      return std::nullopt;
    }
    if (scheme == std::string::npos) text.insert(0, *encrypted ? "https://" : plain);
    return text;
  }

  void assign(const other_variable& one, std::string_view content) {
    const field& f = field_of(*one.which);
    const std::array<std::string_view, 1> items{content};
    assign_all(f, items, {source::environment, std::string(one.name)}, out_);
  }

  void reject(const other_variable& one, std::string_view why, std::string_view instead) {
    out_.reject({std::string(one.name), std::string(why), std::string(instead)});
  }

  /// All that begin with its prefix are its own.
  void reject_unknown() {
    for (const auto& [name, content] : variables_) {
      if (!name.starts_with(await_prefix) || content.empty()) continue;
      if (row_of(name) != nullptr || made_for_a_service(name, content)) continue;
      out_.reject({name, "is a variable of k8s-await-election that is not understood", "unset it"});
    }
  }

  std::span<const name_and_value> variables_;
  raw_settings& out_;
  bool holds_leases_ = false;
};

}  // namespace

std::span<const other_variable> other_variables() {
  return table;
}

bool is_secret_variable(std::string_view name) {
  const other_variable* const row = row_of(name);
  return row != nullptr && row->is_secret;
}

void take_variables_of_other_tools(std::span<const name_and_value> variables, raw_settings& out) {
  other_variables_source(variables, out).take();
}

}  // namespace tenure::config
