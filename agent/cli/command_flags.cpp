#include "cli/commands.hpp"
#include "config/fields.hpp"

namespace tenure::cli {
namespace {

value_kind kind_of(const config::field& f) {
  switch (f.type) {
    case config::field_type::word:
    case config::field_type::signal:
      return value_kind::word;
    case config::field_type::path:
      return f.metavar == "DIR" ? value_kind::directory : value_kind::file;
    case config::field_type::program:
      return value_kind::file;
    default:
      return value_kind::text;
  }
}

}  // namespace

std::vector<option> setting_flags() {
  std::vector<option> out{{.name = config::config_flag,
                           .metavar = "FILE",
                           .doc = "Read settings from this YAML file",
                           .takes = value_kind::file}};
  for (const config::field& f : config::fields()) {
    if (f.flag.empty()) continue;
    out.push_back({.name = f.flag,
                   .metavar = f.metavar,
                   .doc = f.doc,
                   .takes = kind_of(f),
                   .words = f.words,
                   .repeatable = f.repeatable()});
  }
  return out;
}

std::vector<option> own_flags_of(const command& of) {
  std::vector<option> out;
  for (const option& word : of.words) {
    if (word.also.empty()) continue;
    out.push_back({.name = word.also,
                   .metavar = word.name,
                   .doc = word.doc,
                   .takes = word.takes,
                   .words = word.words});
  }
  out.insert(out.end(), of.flags.begin(), of.flags.end());
  return out;
}

std::vector<option> flags_of(const command& of) {
  std::vector<option> out = of.has_settings ? setting_flags() : std::vector<option>();
  const std::vector<option> own = own_flags_of(of);
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

}  // namespace tenure::cli
