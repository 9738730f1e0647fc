#pragma once

#include <string>
#include <string_view>

#include "config/raw_settings.hpp"

namespace tenure::config {

/// What is known about each setting while raw_settings become a configuration: whether it was
/// given, where, and whether the value could be used. Lives for one call of `validate`.
class provenance {
 public:
  provenance(raw_settings& from, const inputs& in, configuration& out)
      : raw_(from), in_(in), out_(out) {}

  /// True if it has a good value that is not the default.
  [[nodiscard]] bool is_given(setting which) const {
    return out_.origin_of(which).from != source::fallback;
  }

  /// True if a value was given that could not be used, even if a good one was given as well.
  [[nodiscard]] bool is_bad(setting which) const {
    return raw_.bad.test(static_cast<std::size_t>(which));
  }

  /// True if it is needed, and no source that could be read gives it, good or bad.
  [[nodiscard]] bool is_missing(setting which) const {
    return !in_.partial && !is_given(which) && !is_bad(which) && raw_.file_usable;
  }

  /// True for a file that is checked by itself: it may be for a pod, which knows more.
  [[nodiscard]] bool may_be_for_a_pod() const { return in_.file_alone; }

  [[nodiscard]] const std::string& where(setting which) const {
    return out_.origin_of(which).where;
  }

  void reject(setting which, std::string what, std::string suggestion) {
    raw_.reject({where(which), std::move(what), std::move(suggestion)});
  }

  /// Rejects a needed setting that was not given.
  void reject_missing(setting which, std::string suggestion) {
    std::string name(in_.file_alone && in_.file && *in_.file ? (*in_.file)->name : "");
    raw_.reject(
        {std::move(name), std::string(field_of(which).key) + " is missing", std::move(suggestion)});
  }

  /// How to write it: "--ttl 15s", or "ttl: 15s" if a file is checked alone; without a value,
  /// "--ttl" or "ttl".
  [[nodiscard]] std::string written(setting which, std::string_view value = {}) const {
    const field& f = field_of(which);
    std::string out(in_.file_alone ? f.key : f.flag);
    if (value.empty()) return out;
    out += in_.file_alone ? ": " : " ";
    return out += value;
  }

  void warn(setting which, std::string what, std::string suggestion) {
    out_.warnings.push_back({where(which), std::move(what), std::move(suggestion)});
  }

 private:
  raw_settings& raw_;
  const inputs& in_;
  configuration& out_;
};

/// Checks how the store is reached: its endpoints, TLS and who signs in.
void check_access(const configuration& s, provenance& known);

/// Warns of a lock-delay of Consul that does nothing, or is missing where it is needed.
/// Precondition: elections and time budget are made.
void check_lock_delay(const configuration& s, provenance& known);

/// Checks the hooks. Precondition: the time budget is made.
void check_hooks(const configuration& s, provenance& known);

/// Checks the settings of health checks, and fills in what follows from other settings.
void check_health(configuration& s, provenance& known);

/// Checks what is done to Kubernetes, and fills in what a pod knows of itself. Precondition: the
/// elections are known.
void check_kubernetes(configuration& s, const inputs& in, provenance& known);

/// Checks the settings of a workload that another process starts.
void check_target(const configuration& s, provenance& known);

}  // namespace tenure::config
