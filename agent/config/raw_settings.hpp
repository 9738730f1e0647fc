#pragma once

#include <bitset>
#include <span>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "config/values.hpp"
#include "settings/security.hpp"
#include "settings/store_kind.hpp"

/// The settings of all sources, before they are combined.
namespace tenure::config {

/// A setting with a valid value.
struct assignment {
  setting which;
  value what;
  origin from;
};

/// A setting whose value is not that of a file's path, but stands in a kubeconfig itself.
struct inlined_setting {
  setting which;
  origin from;
};

/// Collects from one source after the other, weakest first.
struct raw_settings {
  std::vector<assignment> given;
  std::bitset<setting_count> bad;  ///< given with a value that could not be used
  bool file_usable = true;         ///< false: nobody knows what the file would have said
  std::vector<problem> problems;
  std::vector<problem> warnings;

  settings::inline_security inlined;  ///< what a kubeconfig has itself
  std::vector<inlined_setting> inlined_settings;

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

/// True if a source gives it, good or bad.
bool is_given(const raw_settings& all, setting which);

/// What the strongest source says. Null if none does, or not well.
const assignment* strongest(const raw_settings& all, setting which);

/// Null if no source says which store it is, or one that this build does not have.
const settings::store_kind* kind_of_store(const raw_settings& all);

/// Kubernetes gives every container the address of each Service of its namespace, in variables
/// that begin with the Service's name: TENURE_SERVICE_HOST, TENURE_PORT_8081_TCP_ADDR.
bool made_for_a_service(std::string_view variable, std::string_view content);

/// Assigns `items` to `f`, joined if it may be a list; rejects what cannot be read.
void assign_all(const field& f, std::span<const std::string_view> items, const origin& from,
                raw_settings& out);

/// Adds what the file says.
void take_file(const file& source, raw_settings& out);

/// Adds what the TENURE_ variables say. Other variables, those that Tenure itself gives to a
/// workload, and those that Kubernetes makes for a Service named tenure are ignored.
void take_environment(std::span<const name_and_value> variables, raw_settings& out);

/// Adds what the flags say.
void take_flags(std::span<const name_and_value> flags, raw_settings& out);

/// Adds what the variables of other tools say (other_tools.hpp), for settings that nothing of ours
/// gives. Call after the others, and before `take_kubeconfig`.
void take_variables_of_other_tools(std::span<const name_and_value> variables, raw_settings& out);

/// Adds what a kubeconfig says, if the store is Kubernetes and one is named, for settings that
/// nothing else gives. `KUBECONFIG` names one only where nothing else says where the API server is.
/// Call before `take_pod`, and after the others.
void take_kubeconfig(const inputs& in, raw_settings& out);

/// Adds what a pod knows of its cluster, if the store is Kubernetes and no endpoint is given: a
/// token is for the server that it comes from. Call last.
void take_pod(const pod& its, raw_settings& out);

/// Checks everything as a whole and makes a configuration of it.
std::expected<configuration, std::vector<problem>> validate(raw_settings from, const inputs& in);

}  // namespace tenure::config
