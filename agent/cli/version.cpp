#include "cli/version.hpp"

#include <boost/version.hpp>
#include <cstdio>

#include "cli/client/json_codec.hpp"
#include "cli/commit.hpp"
#include "cli/verbs.hpp"
#include "http/tls/tls_library.hpp"
#include "runtime/exit_status.hpp"
#include "settings/store_kind.hpp"

#ifndef TENURE_VERSION_TEXT
#error "the build gives the version"
#endif

namespace tenure::cli {

build_facts facts_of_build() {
  return {.version = TENURE_VERSION_TEXT,
          .commit = TENURE_COMMIT_TEXT,
          .compiler = __VERSION__,
          .boost = std::to_string(BOOST_VERSION / 100'000) + "." +
                   std::to_string(BOOST_VERSION / 100 % 1000) + "." +
                   std::to_string(BOOST_VERSION % 100),
          .tls = http::tls_library(),
          .stores = {settings::store_names.begin(), settings::store_names.end()}};
}

std::string version_line() {
  const std::string_view commit = TENURE_COMMIT_TEXT;
  return "tenure " TENURE_VERSION_TEXT + (commit.empty() ? "" : " (" + std::string(commit) + ")");
}

int run_version(const invocation& what) {
  if (what.output == output_form::json) {
    std::puts(version_json(facts_of_build()).c_str());
  } else {
    std::puts(version_line().c_str());
  }
  return runtime::exit_ok;
}

}  // namespace tenure::cli
