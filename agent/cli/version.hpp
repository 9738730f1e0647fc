#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What this program is, and was built from.
namespace tenure::cli {

struct build_facts {
  std::string version;
  std::string commit;  ///< "+changes" at its end: and what was not committed; empty: not known
  std::string compiler;
  std::string boost;
  std::string tls;
  std::vector<std::string_view> stores;
};

build_facts facts_of_build();

/// "tenure 0.1.0 (3f2a9c1d0b4e)"; without the commit where that is not known.
std::string version_line();

}  // namespace tenure::cli
