#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/malformed.hpp"

/// Bytes <-> structs for Leases of Kubernetes' API (coordination.k8s.io/v1). Pure: no I/O, no
/// clock.
///
/// Replies are read strictly: a missing member, a wrong type or a contradiction makes a reply
/// `malformed`, and the outcome of its request unknown.
namespace tenure::stores::kubernetes {

using annotations = std::map<std::string, std::string, std::less<>>;

/// A Lease as the API server shows it.
struct lease_object {
  std::string name{};
  std::string uid{};
  std::uint64_t resource_version = 0;
  annotations notes{};
  annotations labels{};
  std::string spec{};    ///< JSON, as it was read: what a later write relies on
  std::string holder{};  ///< empty: nobody holds it
  /// How long others wait after its last change; nothing if it does not say.
  std::optional<std::int64_t> duration_s{};
  std::int64_t transitions = 0;
  std::int64_t renewed_ms = 0;  ///< by the writer's wall clock; 0: it does not say
  std::string strategy{};       ///< empty, or how Kubernetes' coordinated leader election chooses
  std::string preferred{};      ///< who is to hold next, by that election

  /// The value of an annotation; empty if there is none.
  [[nodiscard]] std::string_view note(std::string_view key) const;

  friend bool operator==(const lease_object&, const lease_object&) = default;
};

/// The answer to a GET, POST or PATCH of one Lease, which must have that name.
parsed<lease_object> parse_lease(std::string_view body, std::string_view name);

struct lease_list {
  std::vector<lease_object> items;
  std::uint64_t resource_version = 0;
};

/// The answer to a GET of Leases; no Lease may be in it twice.
parsed<lease_list> parse_list(std::string_view body);

/// What the API server says of an error (metav1.Status).
struct status {
  int code = 0;
  std::string reason{};     ///< "Conflict"
  std::string message{};    ///< printable, one line
  bool has_causes = false;  ///< it names fields of the object that was sent
  std::string kind{};       ///< what it is about: "leases"
};

/// Nothing if the body is not a Status.
std::optional<status> parse_status(std::string_view body);

/// True if this is the answer to a DELETE of the Lease with this name that was executed: a Status
/// of success, or the Lease as it was last.
bool is_deletion(std::string_view body, std::string_view name);

/// A document of a watch.
struct watch_event {
  enum class type : std::uint8_t { added, modified, deleted, bookmark, error };
  type what = type::error;
  lease_object object{};               ///< the Lease that was added, modified or deleted
  std::uint64_t resource_version = 0;  ///< the watch has shown everything up to this version
  status error{};                      ///< what the server says of an error
};

parsed<watch_event> parse_event(std::string_view document);

/// What a write makes of a Lease's spec; a member without a value leaves a field as it is.
struct spec_change {
  std::optional<std::string> holder{};
  std::optional<std::int64_t> duration_s{};
  std::optional<std::int64_t> acquired_ms{};
  std::optional<std::int64_t> renewed_ms{};
  std::optional<std::int64_t> transitions{};
  bool forget_preferred = false;
};

/// An annotation without a value is removed.
using note_change = std::map<std::string, std::optional<std::string>, std::less<>>;

/// POST of a Lease.
std::string creation(const std::string& name, const annotations& labels, const spec_change& spec,
                     const note_change& notes);

/// PATCH of a Lease (RFC 6902) that is executed only if the Lease is as `seen`: the same object,
/// with this resourceVersion and with this spec. The spec is compared because a store that was
/// restored from a backup gives a resourceVersion again. Labels that it lacks are added.
std::string patch(const lease_object& seen, const annotations& labels, const spec_change& spec,
                  const note_change& notes);

/// True if such a write can have made `shown` out of `seen` (null: out of no Lease): what the write
/// did not change is as it was, and no version goes back.
bool is_result(const lease_object& shown, const lease_object* seen, const annotations& labels,
               const spec_change& spec, const note_change& notes);

/// DELETE of a Lease that is executed only if it is as `seen`.
std::string deletion(const lease_object& seen);

/// POST of a SelfSubjectAccessReview: may our user do `verb` with the Lease of this name, or with
/// all if it is empty?
std::string access_review(const std::string& name_space, const std::string& verb,
                          const std::string& lease);
/// The answer; nothing if the body is not one.
std::optional<bool> parse_access(std::string_view body);

/// GET /version: "v1.35.4"; printable.
parsed<std::string> parse_version(std::string_view body);

}  // namespace tenure::stores::kubernetes
