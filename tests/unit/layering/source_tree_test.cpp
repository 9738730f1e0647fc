// The rules, held against the sources that we ship.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "unit/layering/rules.hpp"

namespace tenure::layering {
namespace {

namespace fs = std::filesystem;

const fs::path agent = fs::path(TENURE_SOURCE_TREE) / "agent";

std::vector<source> sources() {
  std::vector<source> all;
  for (const auto& entry : fs::recursive_directory_iterator(agent)) {
    const fs::path& p = entry.path();
    if (p.extension() != ".hpp" && p.extension() != ".cpp") continue;
    std::ifstream file(p, std::ios::binary);
    all.push_back(
        {p.lexically_relative(agent).generic_string(), {std::istreambuf_iterator<char>(file), {}}});
  }
  std::ranges::sort(all, {}, &source::path);
  return all;
}

TEST(SourceTree, IsThereToBeRead) {
  EXPECT_GT(sources().size(), 10U) << "a rule that reads nothing holds nothing: " << agent;
}

TEST(SourceTree, KeepsEveryRule) {
  const std::vector<source> all = sources();
  for (const finding& broken : check(all)) ADD_FAILURE() << broken;
}

TEST(SourceTree, HasOnlyRoomsThatAreInTheTable) {
  const std::vector<std::string_view> known = rooms();
  for (const auto& entry : fs::directory_iterator(agent)) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(std::ranges::count(known, name) == 1)
        << "agent/" << name << " is new: say in tests/unit/layering/rules.cpp whom it may know";
  }
}

}  // namespace
}  // namespace tenure::layering
