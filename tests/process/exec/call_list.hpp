#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace tenure::tests {

/// The rows of docs/guard-calls.md: which system calls a guard may make once it runs.
class call_list {
 public:
  /// `docs`: the folder.
  explicit call_list(const std::filesystem::path& docs) {
    std::ifstream page(docs / "guard-calls.md");
    for (std::string line; std::getline(page, line);) {
      const auto cells = cells_of(line);
      if (cells.size() != 3 || !cells[0].contains('`')) continue;
      rows_.push_back({.calls = quoted(cells[0]), .with = quoted(cells[1])});
    }
  }

  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// The lines of a trace (strace -yy) of a guard's life that no row allows, from the end of its
  /// start on: that is where it locks its memory. `seen`: how many lines there are.
  [[nodiscard]] std::vector<std::string> refused(const std::filesystem::path& trace,
                                                 std::size_t& seen) const {
    std::vector<std::string> out;
    std::ifstream all(trace);
    bool runs = false;
    seen = 0;
    for (std::string line; std::getline(all, line);) {
      if (line.starts_with("mlockall(")) {
        runs = true;
        continue;
      }
      const std::string call = line.substr(0, line.find('('));
      // Signals, and the end.
      const bool is_call = !call.starts_with("---") && !call.starts_with("+++");
      if (!runs || !is_call) continue;
      ++seen;
      if (!allows(call, line)) out.push_back(line);
    }
    return out;
  }

 private:
  struct row {
    std::vector<std::string> calls;
    std::vector<std::string> with;  ///< one of them is in the line; empty: nothing has to be
  };

  [[nodiscard]] bool allows(const std::string& call, const std::string& line) const {
    for (const row& one : rows_) {
      const bool is_it = std::ranges::find(one.calls, call) != one.calls.end();
      const auto is_there = [&](const std::string& with) { return line.contains(with); };
      if (is_it && (one.with.empty() || std::ranges::any_of(one.with, is_there))) return true;
    }
    return false;
  }

  static std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> out;
    if (!line.starts_with("| ")) return out;
    for (std::size_t at = 1; at < line.size();) {
      const std::size_t end = std::min(line.find('|', at), line.size());
      if (end < line.size()) out.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    return out;
  }

  static std::vector<std::string> quoted(const std::string& text) {
    static const std::regex one("`([^`]+)`");
    std::vector<std::string> out;
    for (std::sregex_iterator at(text.begin(), text.end(), one), end; at != end; ++at) {
      out.push_back((*at)[1]);
    }
    return out;
  }

  std::vector<row> rows_;
};

}  // namespace tenure::tests
