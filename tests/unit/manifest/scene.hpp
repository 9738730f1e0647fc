#pragma once

#include <gtest/gtest.h>

#include <string>

#include "manifest/inject.hpp"
#include "support/golden/golden.hpp"

namespace tenure::manifest {

/// An injection as `tenure inject FILE --election db` makes it, for a container that runs as 1000.
inline injection usual() {
  injection out{.what = {.image = "tenure:1", .settings = {"--store=kubernetes", "--election=db"}}};
  out.what.needs.leases = true;
  out.choices.user = 1000;
  return out;
}

/// All problems, or notes, one a line.
inline std::string lines(const std::vector<config::problem>& all) {
  std::string out;
  for (const config::problem& one : all) out += config::render(one) + "\n";
  return out;
}

/// The injected text; a failure, and an empty text, if it is refused.
inline std::string injected_text(const std::string& text, const injection& how = usual()) {
  const auto done = inject({"web.yaml", text}, how);
  if (done) return done->text;
  ADD_FAILURE() << lines(done.error()) << text;
  return {};
}

/// What works, but is worth knowing; a failure, and the reasons, if it is refused.
inline std::string notes_of(const std::string& text, const injection& how = usual()) {
  const auto done = inject({"web.yaml", text}, how);
  if (done) return lines(done->notes);
  ADD_FAILURE() << lines(done.error()) << text;
  return lines(done.error());
}

/// Why it is refused; a failure if it is not.
inline std::string refusal(const std::string& text, const injection& how = usual()) {
  const auto done = inject({"web.yaml", text}, how);
  if (!done) return lines(done.error());
  ADD_FAILURE() << "not refused:\n" << done->text;
  return {};
}

inline std::string plain_text(const std::string& text, const std::string& workload = {}) {
  const auto done = uninject({"web.yaml", text}, workload);
  if (done) return *done;
  ADD_FAILURE() << lines(done.error()) << text;
  return {};
}

}  // namespace tenure::manifest
