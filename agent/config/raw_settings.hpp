#pragma once

#include <bitset>
#include <span>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/values.hpp"

/// The settings of all sources, before they are combined.
namespace tenure::config {

/// A setting with a valid value.
struct assignment {
  setting which;
  value what;
  origin from;
};

/// Collects from one source after the other, weakest first.
struct raw_settings {
  std::vector<assignment> given;
  std::bitset<setting_count> bad;  ///< given with a value that could not be used
  bool file_usable = true;         ///< false: nobody knows what the file would have said
  std::vector<problem> problems;

  void assign(setting which, value what, origin from) {
    given.push_back({which, std::move(what), std::move(from)});
  }
  /// A value of `f` at `where` is wrong.
  void reject(const field& f, const std::string& where, const mistake& why) {
    bad.set(static_cast<std::size_t>(f.which));
    problems.push_back({where, std::string(f.key) + " " + why.what, why.suggestion});
  }
  void reject(problem p) { problems.push_back(std::move(p)); }
};

/// Adds what the file says.
void take_file(const file& source, raw_settings& out);

/// Adds what the TENURE_ variables say. Other variables, those that Tenure itself gives to a
/// workload, and those that Kubernetes makes for a Service named tenure are ignored.
void take_environment(std::span<const name_and_value> variables, raw_settings& out);

/// Adds what the flags say.
void take_flags(std::span<const name_and_value> flags, raw_settings& out);

/// Adds what the variables of the command `consul` say, if the store is Consul, for settings that
/// nothing else gives. Call last.
void take_consul_variables(std::span<const name_and_value> variables, raw_settings& out);

/// Adds what a pod knows of its cluster, if the store is Kubernetes and no endpoint is given: a
/// token is for the server that it comes from. Call last.
void take_pod(const pod& its, raw_settings& out);

/// Checks everything as a whole and makes a configuration of it.
std::expected<configuration, std::vector<problem>> validate(raw_settings from, const inputs& in);

}  // namespace tenure::config
