#include "stores/kubernetes/term_notes.hpp"

#include <optional>
#include <string>

#include "base/printable_text.hpp"
#include "stores/kubernetes/layout.hpp"

namespace tenure::stores::kubernetes {
namespace {

note_change nothing_for_people() {
  return {{std::string(version_annotation), std::nullopt},
          {std::string(holder_annotation), std::nullopt}};
}

}  // namespace

note_change notes_of_new_term() {
  note_change out = nothing_for_people();
  out.emplace(term_annotation, std::nullopt);
  return out;
}

note_change notes_of_term(const own_run& self, const lease_object& lease, core::version version) {
  return {{std::string(term_annotation),
           term_text({.transitions = lease.transitions, .version = version, .mark = self.mark})},
          {std::string(version_annotation), std::to_string(core::number(version))},
          {std::string(holder_annotation), base::printable(self.identity)}};
}

note_change notes_of_released_term(const slot_holder& of, const lease_object& lease,
                                   std::int64_t released_ms, const std::string& record) {
  note_change out = nothing_for_people();
  if (record.empty()) return out;
  out.emplace(release_annotation, record);
  out.emplace(term_annotation, term_text({.transitions = lease.transitions,
                                          .version = of.version,
                                          .mark = of.mark,
                                          .released_ms = released_ms}));
  return out;
}

}  // namespace tenure::stores::kubernetes
