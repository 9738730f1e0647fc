#include <algorithm>

#include "config/configuration.hpp"
#include "settings/store_kind.hpp"

namespace tenure::config {
namespace {

std::string origin_text(const configuration& s, const field& f) {
  const origin& from = s.origin_of(f.which);
  if (from.from != source::fallback) return from.where;
  return f.fallback.empty() ? "default: " + std::string(f.derivation) : "default";
}

/// True if the value stands in the kubeconfig itself: there is no file to name, and it may be a
/// secret.
bool is_inlined(const configuration& s, setting which) {
  const settings::inline_security& in = s.secure.inlined;
  switch (which) {
    case setting::ca_file:
      return !in.authorities.empty();
    case setting::certificate_file:
      return !in.certificate.empty();
    case setting::key_file:
      return !in.key.empty();
    case setting::token_file:
      return !in.token.empty();
    default:
      return false;
  }
}

/// True for settings that would be refused when the text is loaded, or have no effect here.
bool means_nothing(const configuration& s, const field& f) {
  if (f.section == group::health && !s.health.is_checked()) return true;
  if (f.section == group::kubernetes && !s.kubernetes.cluster && !s.kubernetes.is_used()) {
    return true;
  }
  const settings::store_kind* const kind = settings::find_store_kind(s.store);
  if (std::ranges::find(token_settings, f.which) != token_settings.end()) {
    return kind == nullptr || !kind->has_tokens;
  }
  if (std::ranges::find(kubernetes_settings, f.which) != kubernetes_settings.end()) {
    return kind == nullptr || !kind->in_pods;
  }
  if (std::ranges::find(consul_settings, f.which) == consul_settings.end()) return false;
  return kind == nullptr || !kind->has_agents;
}

}  // namespace

std::string effective(const configuration& s) {
  constexpr std::size_t comment_column = 36;
  std::string out;
  for (const field& f : fields()) {
    if (means_nothing(s, f)) continue;
    if (is_inlined(s, f.which)) {
      std::string line = "# " + std::string(f.key) + ": in the kubeconfig";
      line.resize(std::max(line.size() + 2, comment_column), ' ');
      out += line + "# " + origin_text(s, f) + "\n";
      continue;
    }
    const std::string value = f.in.shown(s, f);
    if (value.empty()) continue;
    // The comment is on the line of the key, even if a list follows below.
    const std::size_t break_at = std::min(value.find('\n'), value.size());
    std::string line = std::string(f.key) + ":";
    if (break_at > 0) line += " " + value.substr(0, break_at);
    line.resize(std::max(line.size() + 2, comment_column), ' ');
    const bool names_by_flag =
        f.which == setting::elections && s.origin_of(setting::election).from != source::fallback;
    const field& given = names_by_flag ? field_of(setting::election) : f;
    out += line + "# " + origin_text(s, given) + value.substr(break_at) + "\n";
  }
  return out;
}

}  // namespace tenure::config
