#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The version of this program, and what it was built from.
namespace tenure::cli {

struct build_facts {
  std::string version;
  std::string commit;  ///< ends with "+changes" if the tree had changes; empty: unknown
  std::string compiler;
  std::string boost;
  std::string tls;
  std::vector<std::string_view> stores;
};

build_facts facts_of_build();

/// "tenure 0.1.0 (3f2a9c1d0b4e)"; without the commit if that is unknown.
std::string version_line();

}  // namespace tenure::cli
