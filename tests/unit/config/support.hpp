#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.hpp"
#include "settings/mistake.hpp"
#include "support/golden/golden.hpp"

namespace tenure::config {

using log::log_level;
using settings::election;
using settings::health;
using settings::hooks;
using settings::log_format;
using settings::quote;
using settings::security;

}  // namespace tenure::config

namespace tenure::config::test {

using result = std::expected<configuration, std::vector<problem>>;

/// The least that is a good configuration.
inline inputs minimal() {
  inputs in;
  in.flags = {{"--store", "sqlite"}, {"--endpoint", "/tmp/t.db"}, {"--election", "db"}};
  in.host_name = "host-1";
  return in;
}

/// `text` as tenure.yaml, and nothing else but a host name.
inline inputs only_file(std::string text) {
  inputs in = minimal();
  in.flags.clear();
  in.file = file{"tenure.yaml", std::move(text)};
  return in;
}

/// The minimal configuration with `text` as tenure.yaml.
inline inputs with_file(std::string text) {
  inputs in = minimal();
  in.file = file{"tenure.yaml", std::move(text)};
  return in;
}

inline inputs with_flags(std::vector<name_and_value> flags) {
  inputs in = minimal();
  in.flags.insert(in.flags.end(), flags.begin(), flags.end());
  return in;
}

inline inputs with_environment(std::vector<name_and_value> variables) {
  inputs in = minimal();
  in.environment = std::move(variables);
  return in;
}

/// The problems as a user sees them; none for a good configuration.
inline std::vector<std::string> problems_of(const inputs& in) {
  std::vector<std::string> out;
  const result r = load(in);
  if (!r) {
    for (const problem& p : r.error()) out.push_back(render(p));
  }
  return out;
}

/// The settings, or an end of the test with the problems.
inline configuration good(const inputs& in) {
  result r = load(in);
  if (r) return *r;
  for (const problem& p : r.error()) ADD_FAILURE() << render(p);
  return {};
}

}  // namespace tenure::config::test
