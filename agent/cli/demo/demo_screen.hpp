#pragma once

#include <string>
#include <vector>

#include "cli/demo/demo_record.hpp"
#include "core/clock.hpp"

namespace tenure::cli {

/// The demo's output. Colours only on a terminal that wants them (NO_COLOR).
class demo_screen {
 public:
  /// `begin` is 0.0 s on the demo's clock.
  explicit demo_screen(core::time_point begin);

  void title(const std::string& text) const;
  /// A new scene: what happens next.
  void act(const std::string& text) const;
  /// Something that was observed, with its time.
  void event(core::time_point when, const std::string& text) const;
  void note(const std::string& text) const;
  /// One line of JSON, broken at commas to fit the page.
  void passage(const std::string& json) const;
  void verdict(bool good, const std::string& text) const;

  /// Who ran when: one row per member, drawn from the workers' own stamps.
  void timeline(const std::vector<std::string>& members, const std::vector<run_record>& runs,
                core::time_point end) const;

  /// The name of a member in its colour.
  [[nodiscard]] std::string member(const std::string& name) const;
  [[nodiscard]] std::string strong(const std::string& text) const;

 private:
  [[nodiscard]] std::string paint(const char* code, const std::string& text) const;

  core::time_point begin_;
  bool colour_;
};

/// "2.4 ms", "3.02 s": for people.
std::string spoken(core::duration d);

}  // namespace tenure::cli
