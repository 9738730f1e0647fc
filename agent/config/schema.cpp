#include "config/schema.hpp"

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "config/fields.hpp"
#include "config/load.hpp"
#include "config/values.hpp"
#include "core/check.hpp"
#include "settings/kubernetes_names.hpp"
#include "settings/store_kind.hpp"

namespace tenure::config {
namespace {

using json = nlohmann::ordered_json;

// Each pattern accepts what the parser of the same type accepts; the tests hold them together.
constexpr const char* duration_pattern =
    R"(^(?=.)([0-9]{1,9}(\.[0-9]{1,9})?h)?([0-9]{1,9}(\.[0-9]{1,9})?m)?)"
    R"(([0-9]{1,9}(\.[0-9]{1,9})?s)?([0-9]{1,9}(\.[0-9]{1,9})?ms)?)"
    R"(([0-9]{1,9}(\.[0-9]{1,9})?us)?$)";
constexpr const char* percent_pattern = R"(^([0-9]|1[0-9]|20)(\.[0-9]{1,4})?%$)";
constexpr const char* name_pattern =
    R"(^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$)";
/// `settings::why_not_a_lease_name`
constexpr const char* lease_name_pattern =
    R"(^(?!.*\.(slot|member|order)-)[a-z0-9]([a-z0-9-]*[a-z0-9])?)"
    R"((\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$)";
constexpr const char* identity_pattern = "^[!-~]+$";
constexpr const char* endpoint_pattern = R"(^[^\u0000-\u001f\u007f]+$)";
constexpr const char* path_pattern = R"(^(?!-----BEGIN)[^\u0000-\u001f\u007f]+$)";
constexpr const char* program_pattern =
    R"(^(/[^\u0000-\u001f\u007f]*[^/\u0000-\u001f\u007f]|[^/\u0000-\u001f\u007f]+)$)";
constexpr const char* command_line_pattern =
    R"(^[^ \u0000-\u001f\u007f]([^\u0000-\u001f\u007f]*[^ \u0000-\u001f\u007f])?$)";
constexpr const char* host_pattern = "^[A-Za-z0-9._:-]+$";
constexpr const char* host_name_pattern = "^[A-Za-z0-9._-]+$";
constexpr const char* user_pattern = "^[!-9;-~]+$";
constexpr const char* word_pattern = R"(^[^\u0000-\u001f\u007f]*$)";
/// Words and quoted pieces; the first word is not empty.
constexpr const char* command_pattern =
    R"(^ *(?!(""|'')( |$))([^\u0000-\u0020\u007f"']|"[^\u0000-\u001f\u007f"]*"|)"
    R"('[^\u0000-\u001f\u007f']*')( *([^\u0000-\u0020\u007f"']|"[^\u0000-\u001f\u007f"]*"|)"
    R"('[^\u0000-\u001f\u007f']*'))* *$)";
constexpr const char* https_pattern = "^[Hh][Tt][Tt][Pp][Ss]://";
constexpr const char* octet = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
constexpr const char* port =
    "(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}|0)";

std::string listen_pattern() {
  const std::string ipv4 = std::string("(") + octet + R"(\.){3})" + octet;
  const std::string ipv6 = R"(\[[0-9A-Fa-f:.]+\])";
  return "^(off|(localhost|" + ipv4 + "|" + ipv6 + "):" + port + ")$";
}

constexpr const char* scheme_pattern = "[Hh][Tt][Tt][Pp][Ss]?://";

/// What follows the scheme in an endpoint of a store that is called over HTTP.
std::string host_and_path_pattern() {
  return R"((\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?!0$|0/))" + std::string(port) +
         R"()?(/[!"$->A-~]*)?)";
}

std::string url_pattern() {
  return std::string("^") + scheme_pattern + host_and_path_pattern() + "$";
}

/// Also without a scheme, and a Unix socket.
std::string agent_pattern() {
  return std::string("^(unix:/[!-~]{0,106}|(") + scheme_pattern + ")?" + host_and_path_pattern() +
         ")$";
}

/// An endpoint of this machine, without TLS.
std::string local_url_pattern() {
  return R"(^[Hh][Tt][Tt][Pp]://([Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|127(\.)" +
         std::string(octet) + R"(){3}|\[[0:]*:0*1\])(:(?!0($|[/?])))" + port +
         R"()?(/[!"$->A-~]*)?(\?[!"$-?A-~]*)?$)";
}

json string_of(const char* pattern, std::size_t most) {
  return {{"type", "string"}, {"minLength", 1}, {"maxLength", most}, {"pattern", pattern}};
}

json words_of(const field& f) {
  json words = json::array();
  for (const std::string_view word : f.words) {
    words.push_back(word);
    if (f.type == field_type::signal) words.push_back("SIG" + std::string(word));
  }
  return {{"enum", words}};
}

json integer_of(const field& f) {
  return {{"type", "integer"}, {"minimum", f.least}, {"maximum", f.most}};
}

json list_of(json item, std::size_t most) {
  return {{"type", "array"},
          {"items", std::move(item)},
          {"minItems", 1},
          {"maxItems", most},
          {"uniqueItems", true}};
}

json either(json one, json other) {
  return {{"anyOf", json::array({std::move(one), std::move(other)})}};
}

/// One item of `elections`.
json election_item() {
  const json name = string_of(name_pattern, max_name_bytes);
  json entry = {{"type", "object"},
                {"properties", {{"name", name}, {"slots", integer_of(field_of(setting::slots))}}},
                {"required", json::array({"name"})},
                {"additionalProperties", false}};
  return either(name, std::move(entry));
}

/// A command, word by word.
json words_list() {
  json first = {{"type", "string"}, {"minLength", 1}, {"pattern", word_pattern}};
  return {{"type", "array"},
          {"items", json::array({std::move(first)})},
          {"additionalItems", {{"type", "string"}, {"pattern", word_pattern}}},
          {"minItems", 1},
          {"maxItems", max_command_words}};
}

/// The most that the row of a duration accepts: the end of its range, or of the range of `ttl`.
core::duration most_of(const field& f) {
  constexpr std::string_view to = " to ";
  const std::size_t at = f.range.find(to);
  if (at != std::string_view::npos) {
    const std::string_view rest = f.range.substr(at + to.size());
    if (const auto most = parse_duration(rest.substr(0, rest.find_first_of(" ;,")))) return *most;
  }
  return f.which == setting::ttl ? max_duration : most_of(field_of(setting::ttl));
}

/// Whole numbers above `most`, of up to as many digits as a duration may have.
std::string above(std::uint64_t most) {
  const std::string digits = std::to_string(most);
  std::string out = "[1-9][0-9]{" + std::to_string(digits.size()) + ",}";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '9') continue;
    out += "|" + digits.substr(0, i) + "[" + static_cast<char>(digits[i] + 1) + "-9][0-9]{" +
           std::to_string(digits.size() - i - 1) + "}";
  }
  return out;
}

/// Durations that have more of one unit than `most`. That several units are too much together is
/// left to `tenure check`.
std::string longer_than(core::duration most) {
  struct unit {
    const char* name;
    std::uint64_t in_an_hour;
  };
  constexpr std::uint64_t ms_in_an_hour = 3'600'000;
  constexpr std::array<unit, 4> units{
      {{"h", 1}, {"m($|[0-9.])", 60}, {"s", 3600}, {"ms", ms_in_an_hour}}};
  const auto in_ms = std::chrono::duration_cast<std::chrono::milliseconds>(most).count();
  std::string out;
  for (const unit& one : units) {
    const auto ms = static_cast<std::uint64_t>(in_ms) * one.in_an_hour;
    const std::uint64_t limit = ms / ms_in_an_hour;
    const bool is_even = ms % ms_in_an_hour == 0;
    out += (out.empty() ? "" : "|") + std::string("(^|[a-z])0*((") + above(limit) +
           ")(\\.[0-9]+)?" + (is_even ? "|" + std::to_string(limit) + "\\.0*[1-9][0-9]*" : "") +
           ")" + one.name;
  }
  return out;
}

json type_of(const field& f) {
  switch (f.type) {
    case field_type::word:
    case field_type::signal:
      return words_of(f);
    case field_type::endpoints: {
      const json one = string_of(endpoint_pattern, max_endpoint_bytes);
      return either(one, list_of(one, max_endpoints));
    }
    case field_type::election_name:
      return string_of(name_pattern, max_name_bytes);
    case field_type::elections:
      return list_of(election_item(), max_elections);
    case field_type::identity:
      return string_of(identity_pattern, max_name_bytes);
    case field_type::path:
      return string_of(path_pattern, max_path_bytes);
    case field_type::program:
      return string_of(program_pattern, max_path_bytes);
    case field_type::command_line:
      return string_of(command_line_pattern, max_path_bytes);
    case field_type::host:
      return string_of(host_pattern, max_name_bytes);
    case field_type::host_names: {
      const json one = string_of(host_name_pattern, max_name_bytes);
      return either(one, list_of(one, max_allowed_hosts));
    }
    case field_type::ids: {
      const json one = string_of(identity_pattern, max_name_bytes);
      return either(one, list_of(one, max_checks));
    }
    case field_type::user:
      return string_of(user_pattern, max_name_bytes);
    case field_type::http_url:
      return string_of(local_url_pattern().c_str(), max_endpoint_bytes);
    case field_type::command:
      return either(string_of(command_pattern, max_command_bytes), words_list());
    case field_type::duration:
      return {{"type", "string"},
              {"pattern", duration_pattern},
              {"not", {{"pattern", longer_than(most_of(f))}}}};
    case field_type::percent:
      return {{"type", "string"}, {"pattern", percent_pattern}};
    case field_type::integer:
      return integer_of(f);
    case field_type::boolean:
      return {{"type", "boolean"}};
    case field_type::listen:
      // Editors that read YAML 1.1 see `off` as false.
      return either({{"type", "string"}, {"pattern", listen_pattern()}}, {{"const", false}});
  }
  TENURE_CHECK(false);
}

json property(const field& f) {
  std::string text(f.doc);
  if (!f.range.empty()) text += ". Accepts " + std::string(f.range);
  if (!f.derivation.empty()) text += ". Default: " + std::string(f.derivation);
  json out = {{"description", text + "."}};
  out.update(type_of(f));
  if (f.fallback.empty()) return out;
  if (f.type == field_type::boolean) {
    out["default"] = f.fallback == "true";
  } else if (f.type == field_type::integer) {
    out["default"] = parse_integer(f.fallback, f.least, f.most).value();
  } else {
    out["default"] = f.fallback;
  }
  return out;
}

json store_is(json what) {
  return {{"properties", {{"store", std::move(what)}}}, {"required", json::array({"store"})}};
}

json rule(json given, json then) {
  return {{"if", std::move(given)}, {"then", {{"properties", std::move(then)}}}};
}

/// A store has none of these.
json none_of(const json& is_such_a_store, std::span<const setting> all) {
  json then = json::object();
  for (const setting which : all) then[key_of(which)] = false;
  return rule(is_such_a_store, std::move(then));
}

json file_rule(const json& is_such_a_store) {
  const json no_url = {{"type", "string"}, {"not", {{"pattern", "://"}}}};
  return rule(is_such_a_store, {{"endpoint", either(no_url, list_of(no_url, 1))}});
}

/// Stores whose endpoints are URLs.
json url_rule(const json& is_such_a_store, const std::string& pattern) {
  const json url = {{"type", "string"}, {"pattern", pattern}};
  return rule(is_such_a_store, {{"endpoint", either(url, list_of(url, max_endpoints))}});
}

/// TLS settings need an endpoint with TLS.
json tls_rule(const json& is_such_a_store) {
  json given = json::array();
  for (const setting which : tls_settings) {
    given.push_back({{"required", json::array({field_of(which).key})}});
  }
  const json https = {{"type", "string"}, {"pattern", https_pattern}};
  const json one_of_them = {{"type", "array"}, {"contains", https}};
  return rule({{"allOf", json::array({is_such_a_store, {{"anyOf", given}}})}},
              {{"endpoint", either(https, one_of_them)}});
}

json required(setting which) {
  return {{"required", json::array({field_of(which).key})}};
}

/// Intervals and counts need a check.
json health_rules() {
  json anything = json::array();
  for (const setting kind : {setting::health_http, setting::health_command, setting::health_file}) {
    anything.push_back(required(kind));
  }
  json numbers = json::array();
  for (const field& f : fields()) {
    if (f.section == group::health) numbers.push_back(required(f.which));
  }
  return json::array(
      {{{"if", {{"anyOf", std::move(numbers)}}}, {"then", {{"anyOf", anything}}}},
       {{"if", required(setting::health_file_age)}, {"then", required(setting::health_file)}}});
}

json has(setting which, const json& what) {
  json out = required(which);
  out["properties"] = {{field_of(which).key, {{"const", what}}}};
  return out;
}

json if_then(json what, json then) {
  return {{"if", std::move(what)}, {"then", std::move(then)}};
}

/// A target is found in one way, and the settings of its gain fit together.
void add_target_rules(json& rules) {
  const json program = required(setting::target_executable);
  const json command_line = required(setting::target_command_line);
  const json pid_file = required(setting::target_pid_file);
  const json any = {{"anyOf", json::array({program, command_line, pid_file})}};
  const json one = {{"oneOf", json::array({program, command_line, pid_file})},
                    {"not", has(setting::observe, true)},
                    {"properties", {{"elections", {{"maxItems", 1}}}}}};
  rules.push_back(if_then(any, one));
  for (const setting which :
       {setting::target_uid, setting::while_standby, setting::on_gain, setting::gain_signal}) {
    rules.push_back(if_then(required(which), any));
  }
  rules.push_back(if_then(required(setting::guard_uid), required(setting::guard_dir)));
  const json signals = has(setting::on_gain, "signal");
  rules.push_back(if_then(required(setting::gain_signal), signals));
  const json needs =
      json::array({required(setting::gain_signal), has(setting::while_standby, "run")});
  rules.push_back(if_then(signals, {{"allOf", needs}}));
}

/// One pod is shown as active, for one election.
void add_traffic_rules(json& rules) {
  json written = required(setting::traffic);
  written["properties"] = {
      {field_of(setting::traffic).key, {{"enum", json::array({"gate", "label", "endpoints"})}}}};
  const json one = {
      {"not", has(setting::observe, true)},
      {"properties", {{"elections", {{"maxItems", 1}}}, {"slots", {{"maximum", 1}}}}}};
  rules.push_back(if_then(std::move(written), one));
  rules.push_back(if_then(required(setting::traffic_slice), has(setting::traffic, "endpoints")));
  rules.push_back(
      if_then(has(setting::witness, "kubelet"), {{"not", has(setting::observe, true)}}));
}

/// A holder makes way only in an election with one slot. `slots` is for elections that do not say
/// it themselves.
void add_preempt_rule(json& rules) {
  const json at_most_one = {{"properties", {{"slots", {{"maximum", 1}}}}}};
  const json says_it = {{"type", "object"}, {"required", json::array({"slots"})}};
  json all_say_it = required(setting::elections);
  all_say_it["properties"] = {{"elections", {{"items", says_it}}}};
  json then = either(at_most_one, std::move(all_say_it));
  then["properties"] = {{"elections", {{"items", at_most_one}}}};
  rules.push_back(if_then(has(setting::preempt, true), std::move(then)));
}

/// With the store Kubernetes, an election is named as a Lease may be.
json lease_rule(json kubernetes) {
  const json name = {{"pattern", lease_name_pattern},
                     {"maxLength", settings::max_lease_name_bytes}};
  json entry = {{"properties", {{"name", name}}}};
  json item = name;
  item.update(entry);
  return if_then(std::move(kubernetes),
                 {{"properties", {{"election", name}, {"elections", {{"items", item}}}}}});
}

/// Requirements of single stores.
json store_rules() {
  json files = json::array();
  json servers = json::array();
  json by_url = json::array();
  json agents = json::array();
  json others = json::array();
  json with_tokens = json::array();
  json without_tokens = json::array();
  json not_kubernetes = json::array();
  json kubernetes = json::array();
  for (const settings::store_kind& one : settings::store_kinds) {
    (one.is_file() ? files : servers).push_back(one.name);
    if (!one.is_file() && !one.has_agents) by_url.push_back(one.name);
    (one.has_agents ? agents : others).push_back(one.name);
    (one.in_pods ? kubernetes : not_kubernetes).push_back(one.name);
    (one.has_tokens ? with_tokens : without_tokens).push_back(one.name);
  }
  const json is_file = store_is({{"enum", std::move(files)}});
  const json has_agents = store_is({{"enum", std::move(agents)}});
  return json::array(
      {file_rule(is_file), none_of(is_file, tls_settings), none_of(is_file, sign_in_settings),
       none_of(store_is({{"enum", std::move(with_tokens)}}), sign_in_settings),
       none_of(store_is({{"enum", std::move(without_tokens)}}), token_settings),
       none_of(store_is({{"enum", std::move(others)}}), consul_settings),
       none_of(store_is({{"enum", std::move(not_kubernetes)}}), kubernetes_settings),
       lease_rule(store_is({{"enum", std::move(kubernetes)}})),
       url_rule(store_is({{"enum", std::move(by_url)}}), url_pattern()),
       url_rule(has_agents, agent_pattern()), tls_rule(store_is({{"enum", std::move(servers)}}))});
}

}  // namespace

std::string json_schema() {
  json properties = json::object();
  for (const field& f : fields()) properties[std::string(f.key)] = property(f);
  json rules = store_rules();
  for (json& one : health_rules()) rules.push_back(std::move(one));
  add_target_rules(rules);
  add_traffic_rules(rules);
  add_preempt_rule(rules);
  const json schema = {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "Tenure configuration"},
      {"description", "What can also be given as flags and TENURE_ variables."},
      {"type", "object"},
      {"properties", properties},
      {"not", {{"required", json::array({"election", "elections"})}}},
      {"allOf", std::move(rules)},
      {"additionalProperties", false},
  };
  return schema.dump(2) + "\n";
}

}  // namespace tenure::config
