#pragma once

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "stores/kubernetes/layout.hpp"
#include "stores/kubernetes/mirror.hpp"
#include "stores/records/release_record_text.hpp"

namespace tenure::stores::kubernetes {

/// A run "a" that looks at the election "db", and the Leases that it sees. The ttl is 15 s.
class KubernetesMirror : public testing::Test {
 protected:
  static constexpr std::chrono::seconds ttl{15};

  static core::time_point at(int seconds) {
    return core::time_point(std::chrono::seconds(1000 + seconds));
  }

  [[nodiscard]] mirror of(std::uint32_t slots = 1) const {
    return {{.name = "db", .slots = slots}, self_, ttl};
  }

  /// A Lease of the election as of `version`, which nobody holds.
  static lease_object lease(const std::string& name, std::uint64_t version) {
    lease_object out{
        .name = name, .uid = "uid-of-" + name, .resource_version = version, .spec = "{}"};
    if (name != "db") out.labels.emplace(election_label, "db");
    return out;
  }

  /// One that is held; each `renewed` is another spec.
  static lease_object held(std::uint64_t version, const std::string& holder,
                           std::int64_t transitions = 1, std::int64_t renewed = 0,
                           const std::string& name = "db") {
    lease_object out = lease(name, version);
    out.holder = holder;
    out.duration_s = ttl.count();
    out.transitions = transitions;
    out.renewed_ms = renewed;
    out.spec = holder + " " + std::to_string(transitions) + " " + std::to_string(renewed);
    return out;
  }

  /// What a release of the term `term` with that number of transitions leaves.
  static lease_object released(std::uint64_t version, std::uint64_t term, bool clean = true,
                               std::int64_t transitions = 1, const std::string& name = "db") {
    lease_object out = held(version, "", transitions, 0, name);
    out.duration_s = 1;
    out.notes.emplace(release_annotation,
                      release_record_text(core::version{term}, "b", {.clean = clean}));
    out.notes.emplace(term_annotation, term_text({.transitions = transitions,
                                                  .version = core::version{term},
                                                  .mark = "tenure-b",
                                                  .released_ms = out.renewed_ms}));
    return out;
  }

  static lease_object note(lease_object on, std::string_view key, const std::string& value) {
    on.notes.insert_or_assign(std::string(key), value);
    return on;
  }

  /// All that there is, as it is read when nothing was followed before.
  static void read(mirror& m, const std::vector<lease_object>& all, std::uint64_t version,
                   int when = 0, bool missed = true, std::int64_t date_ms = 0) {
    m.take_all(part::first, all, version, at(when), date_ms, missed);
    m.take_all(part::others, all, version, at(when), date_ms, missed);
  }

  static bool is_clean(const mirror& m, int when = 0) {
    const auto found = m.find_vacancy(at(when));
    EXPECT_TRUE(found);
    return found && found->is_clean;
  }

  const std::string us_ = "a_tenure-a";
  const std::string other_ = "b_tenure-b";
  const std::string foreign_ = "host_0d9f6b1e";
  own_run self_{.mark = "tenure-a", .identity = "a"};
};

}  // namespace tenure::stores::kubernetes
