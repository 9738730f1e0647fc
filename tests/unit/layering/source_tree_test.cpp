// The rules, held against the sources that we ship.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "unit/layering/rules.hpp"

namespace tenure::layering {
namespace {

namespace fs = std::filesystem;

const fs::path agent = fs::path(TENURE_SOURCE_TREE) / "agent";
const fs::path architecture = fs::path(TENURE_SOURCE_TREE) / "docs" / "architecture.md";

using words = std::set<std::string, std::less<>>;

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

/// The rooms behind each room's arrow in the drawing: "    api -> wire, http".
std::map<std::string, words> drawn_arrows() {
  std::map<std::string, words> all;
  std::ifstream file(architecture);
  for (std::string line; std::getline(file, line);) {
    std::istringstream of(line);
    std::string room;
    std::string arrow;
    if (!line.starts_with("    ") || !(of >> room >> arrow) || arrow != "->") continue;
    for (std::string one; of >> one;) {
      if (one.ends_with(',')) one.pop_back();
      all[room].insert(one);
    }
  }
  return all;
}

/// The rooms of the list: "      core/        the lease protocol".
words listed_rooms() {
  words all;
  std::ifstream file(architecture);
  for (std::string line; std::getline(file, line);) {
    std::istringstream of(line);
    std::string room;
    if (!line.starts_with("      ") || line.starts_with("       ") || !(of >> room)) continue;
    if (room.ends_with('/')) all.insert(room.substr(0, room.size() - 1));
  }
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

TEST(SourceTree, UsesEveryArrowOfTheTable) {
  std::map<std::string_view, words> used;
  const std::vector<source> all = sources();
  for (const source& s : all) {
    for (const include& i : includes_of(s.text)) {
      if (i.quoted) used[room_of(s.path)].emplace(room_of(i.name));
    }
  }
  for (const std::string_view room : rooms()) {
    for (const std::string_view other : known_to(room)) {
      EXPECT_TRUE(used[room].contains(other))
          << room << " does not know " << other << ": take that arrow out of the table";
    }
  }
}

TEST(SourceTree, IsDrawnAsItIs) {
  const auto drawn = drawn_arrows();
  words all;
  for (const std::string_view room : rooms()) {
    all.emplace(room);
    words arrows;
    for (const std::string_view other : known_to(room)) {
      if (other != "core" && other != "base") arrows.emplace(other);
    }
    const auto found = drawn.find(std::string(room));
    EXPECT_EQ(found == drawn.end() ? words{} : found->second, arrows)
        << room << " in docs/architecture.md";
  }
  EXPECT_EQ(listed_rooms(), all) << "in docs/architecture.md";
}

}  // namespace
}  // namespace tenure::layering
