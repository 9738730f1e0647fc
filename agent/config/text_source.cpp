#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "config/misnomer.hpp"
#include "config/other_tools.hpp"
#include "config/raw_settings.hpp"
#include "config/suggest.hpp"
#include "settings/store_kind.hpp"

namespace tenure::config {
namespace {

constexpr std::string_view prefix = "TENURE_";

/// Variables that mean something else, most of them given to a workload by its guard.
constexpr std::array<std::string_view, 11> without_settings{
    config_environment, "TENURE_API",           "TENURE_VERSION",   "TENURE_SEQUENCER",
    "TENURE_SLOT",      "TENURE_PAGE",          "TENURE_GUARD_FDS", "TENURE_RUN",
    "TENURE_EVENT",     "TENURE_EXPIRES_IN_MS", "TENURE_LEFT_MS"};

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    out.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

const field* find(std::string_view given, std::string_view field::* name) {
  if (given.empty()) return nullptr;
  const auto found = std::ranges::find(fields(), given, name);
  return found == fields().end() ? nullptr : &*found;
}

/// Among the names of a source, such as the flags: what `given` was probably meant to be. Null if
/// none is near.
const field* meant(std::string_view given, std::string_view field::* name,
                   std::size_t prefix_size) {
  if (const field* const ours = called_elsewhere(given.substr(prefix_size))) return ours;
  std::vector<std::string_view> known;
  for (const field& f : fields()) {
    // Compared without the common prefix, or all names would look alike.
    if (!(f.*name).empty()) known.push_back((f.*name).substr(prefix_size));
  }
  const std::string_view best = closest(given.substr(prefix_size), known);
  return best.empty() ? nullptr
                      : find(std::string(given.substr(0, prefix_size)) + std::string(best), name);
}

/// Rejects a name that no setting has. Nothing else is to be said of the setting that was meant.
void reject_unknown(const std::string& given, std::string what, const field* ours,
                    std::string_view field::* name, std::string otherwise, raw_settings& out) {
  if (ours != nullptr) {
    out.bad.set(static_cast<std::size_t>(ours->which));
    otherwise = "did you mean " + quote(ours->*name) + "?";
  }
  out.reject({given, std::move(what), std::move(otherwise)});
}

/// Says how to give a secret. The value of `name` is never repeated.
void reject_secret(const std::string& name, std::string_view field::* spelling, raw_settings& out) {
  const mistake why = misplaced_secret(field_of(setting::password_file).*spelling);
  out.reject({name, why.what, why.suggestion});
}

}  // namespace

bool made_for_a_service(std::string_view name, std::string_view content) {
  if (name.ends_with("_SERVICE_HOST") || name.ends_with("_SERVICE_PORT")) return true;
  if (name.contains("_SERVICE_PORT_")) return true;
  if (name.ends_with("_PORT") && content.contains("://")) return true;
  for (const std::string_view protocol : {"_TCP", "_UDP", "_SCTP"}) {
    const std::size_t at = name.rfind(protocol);
    if (at == std::string_view::npos) continue;
    const std::size_t number = name.find_last_not_of("0123456789", at - 1);
    if (number != std::string_view::npos && number + 1 < at &&
        name.substr(0, number + 1).ends_with("_PORT_")) {
      return true;
    }
  }
  return false;
}

void assign_all(const field& f, std::span<const std::string_view> items, const origin& from,
                raw_settings& out) {
  std::vector<std::string> texts;
  std::vector<named_election> elections;
  for (const std::string_view item : items) {
    parsed<value> result = parse_value(f, item);
    if (!result) {
      out.reject(f, from.where, result.error());
    } else if (f.is_list_of_texts()) {
      texts.push_back(std::get<std::string>(std::move(*result)));
    } else if (f.type == field_type::election_name) {
      elections.push_back({std::get<std::string>(std::move(*result)), std::nullopt});
    } else {
      out.assign(f.which, std::move(*result), from);
    }
  }
  if (!texts.empty()) out.assign(f.which, std::move(texts), from);
  if (!elections.empty()) out.assign(f.which, std::move(elections), from);
}

bool is_given(const raw_settings& out, setting which) {
  return out.bad.test(static_cast<std::size_t>(which)) ||
         std::ranges::count(out.given, which, &assignment::which) > 0;
}

const assignment* strongest(const raw_settings& out, setting which) {
  const auto is_it = [which](const assignment& one) { return one.which == which; };
  const auto found = std::find_if(out.given.rbegin(), out.given.rend(), is_it);
  return found == out.given.rend() ? nullptr : &*found;
}

const settings::store_kind* kind_of_store(const raw_settings& out) {
  const assignment* const store = strongest(out, setting::store);
  if (store == nullptr) return nullptr;
  const auto* const name = std::get_if<std::string>(&store->what);
  return name == nullptr ? nullptr : settings::find_store_kind(*name);
}

bool may_be_setting(std::string_view variable) {
  return variable.starts_with(prefix) || variable.starts_with(await_prefix) ||
         std::ranges::find(other_variables(), variable, &other_variable::name) !=
             other_variables().end();
}

void take_environment(std::span<const name_and_value> variables, raw_settings& out) {
  for (const auto& [name, content] : variables) {
    if (!name.starts_with(prefix)) continue;
    if (std::ranges::find(without_settings, name) != without_settings.end()) continue;
    const field* const f = find(name, &field::environment);
    if (f == nullptr) {
      if (made_for_a_service(name, content)) continue;
      if (names_a_secret(std::string_view(name).substr(prefix.size()))) {
        reject_secret(name, &field::environment, out);
        continue;
      }
      reject_unknown(name, "there is no setting for this environment variable",
                     meant(name, &field::environment, prefix.size()), &field::environment,
                     "unset it; names that begin with TENURE_ are settings", out);
      continue;
    }
    if (content.empty()) {
      out.reject(*f, name, {"has no value", "give one, or unset the variable"});
      continue;
    }
    const std::vector<std::string_view> items =
        f->repeatable() ? split(content) : std::vector<std::string_view>{content};
    assign_all(*f, items, {source::environment, name}, out);
  }
}

void take_pod(const pod& its, raw_settings& out) {
  const settings::store_kind* const kind = kind_of_store(out);
  if (kind == nullptr || !kind->in_pods || is_given(out, setting::endpoint)) return;
  const auto take = [&](setting which, const std::string& content) {
    if (content.empty() || is_given(out, which)) return;
    const std::array<std::string_view, 1> items{content};
    assign_all(field_of(which), items, {source::environment, std::string(pod_host)}, out);
  };
  take(setting::endpoint, its.endpoint);
  take(setting::token_file, its.token_file());
  take(setting::ca_file, its.ca_file());
  take(setting::name_space, its.name_space);
}

void take_flags(std::span<const name_and_value> flags, raw_settings& out) {
  constexpr std::string_view dashes = "--";
  std::map<setting, std::vector<std::string_view>> values;
  bool after_a_secret = false;
  for (const auto& [name, content] : flags) {
    const field* const f = find(name, &field::flag);
    if (f == nullptr) {
      // `--password -x`: what follows may look like a flag and be the secret.
      if (std::exchange(after_a_secret, false)) continue;
      if (names_a_secret(name)) {
        reject_secret(name, &field::flag, out);
        after_a_secret = true;
        continue;
      }
      const bool long_flag = name.starts_with(dashes);
      reject_unknown(name, "unknown flag",
                     long_flag ? meant(name, &field::flag, dashes.size()) : nullptr, &field::flag,
                     {}, out);
      continue;
    }
    std::vector<std::string_view>& earlier = values[f->which];
    if (!earlier.empty() && !f->repeatable()) {
      out.reject(*f, name, {"is given twice", "remove one"});
      continue;
    }
    earlier.push_back(content);
  }
  for (const auto& [which, items] : values) {
    const field& f = field_of(which);
    assign_all(f, items, {source::flag, std::string(f.flag)}, out);
  }
}

}  // namespace tenure::config
