#include <cstdio>

#include "cli/client/json_codec.hpp"
#include "cli/verbs.hpp"
#include "config/schema.hpp"
#include "config/surroundings.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {

int run_check(const invocation& what) {
  if (what.has("--schema")) {
    std::puts(config::json_schema().c_str());
    return runtime::exit_ok;
  }
  const auto file = what.value("FILE");
  if (!file) {
    std::fputs("tenure check: which file? e.g. tenure check tenure.yaml\n", stderr);
    return runtime::exit_bad_settings;
  }
  // Only the file: this shell's variables are not part of it.
  config::inputs in;
  in.file_alone = true;
  in.file = config::read_file(*file);
  in.read = config::read_file;
  in.host_name = config::host_name();
  const auto settings = config::load(in);
  const std::vector<config::problem> none;
  const auto problems = settings ? config::problems_here(*settings) : settings.error();
  const auto& warnings = settings ? settings->warnings : none;

  if (what.output == output_form::json) {
    std::puts(check_json(*file, problems.empty(), problems, warnings).c_str());
  } else {
    for (const config::problem& p : problems) {
      std::fprintf(stderr, "%s\n", config::render(p).c_str());
    }
    for (const config::problem& p : warnings) {
      std::fprintf(stderr, "warning: %s\n", config::render(p).c_str());
    }
    if (problems.empty()) std::fputs(config::effective(*settings).c_str(), stdout);
  }
  return problems.empty() ? runtime::exit_ok : runtime::exit_bad_settings;
}

}  // namespace tenure::cli
