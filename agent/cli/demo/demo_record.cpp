#include "cli/demo/demo_record.hpp"

#include <algorithm>
#include <fstream>

namespace tenure::cli {

std::vector<run_record> read_runs(const std::filesystem::path& folder) {
  std::vector<run_record> runs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".run") continue;
    run_page page{};
    std::ifstream file(entry.path(), std::ios::binary);
    file.read(reinterpret_cast<char*>(&page), sizeof page);
    if (!file || page.first_ns == 0) continue;
    const std::string stem = entry.path().stem();
    runs.push_back({.identity = stem.substr(0, stem.find('.')),
                    .version = static_cast<std::uint64_t>(page.version),
                    .first = core::time_point(core::duration(page.first_ns)),
                    .last = core::time_point(core::duration(page.last_ns))});
  }
  std::ranges::sort(runs, {}, &run_record::first);
  return runs;
}

core::duration longest_overlap(const std::vector<run_record>& runs) {
  core::duration longest{};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t k = i + 1; k < runs.size(); ++k) {
      longest = std::max(longest, std::min(runs[i].last, runs[k].last) - runs[k].first);
    }
  }
  return longest;
}

bool versions_grow(const std::vector<run_record>& runs) {
  return std::ranges::adjacent_find(runs, [](const run_record& a, const run_record& b) {
           return b.version <= a.version;
         }) == runs.end();
}

}  // namespace tenure::cli
