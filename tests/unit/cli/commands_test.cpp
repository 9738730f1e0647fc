#include "cli/commands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "config/field_words.hpp"
#include "config/fields.hpp"
#include "config/schema.hpp"
#include "settings/store_kind.hpp"

namespace tenure::cli {
namespace {

TEST(Commands, EachIsNamedOnceAndSaysWhatItDoesAndHowItEnds) {
  std::set<std::string_view> names;
  for (const command& one : commands()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(command_named(one.name), &one);
    EXPECT_FALSE(one.summary.empty()) << one.name;
    EXPECT_FALSE(one.summary.ends_with('.')) << one.name;
    for (const int always : {0, 2}) {
      EXPECT_EQ(std::ranges::count(one.statuses, always, &exit_meaning::status), 1) << one.name;
    }
    EXPECT_TRUE(std::ranges::is_sorted(one.statuses, {}, &exit_meaning::status)) << one.name;
  }
}

TEST(Commands, AFlagIsNoSettingOfTheSameVerbAndIsNamedOnce) {
  for (const command& one : commands()) {
    std::set<std::string_view> names;
    if (one.has_settings) {
      for (const config::field& f : config::fields()) names.insert(f.flag);
    }
    for (const option& o : one.flags) {
      EXPECT_TRUE(o.name.starts_with("--")) << o.name;
      EXPECT_TRUE(names.insert(o.name).second) << one.name << ' ' << o.name;
    }
    for (const option& o : one.words) {
      EXPECT_TRUE(std::ranges::all_of(o.name, [](char c) { return std::isupper(c) != 0; }));
      EXPECT_TRUE(names.insert(o.name).second) << one.name << ' ' << o.name;
    }
  }
}

TEST(Commands, WhatTakesOneOfSomeWordsNamesThem) {
  for (const command& one : commands()) {
    for (const auto& from : {one.words, one.flags}) {
      for (const option& o : from) {
        EXPECT_TRUE(o.takes != value_kind::word || !o.words.empty()) << one.name << ' ' << o.name;
        EXPECT_FALSE(o.doc.empty()) << one.name << ' ' << o.name;
      }
    }
  }
}

TEST(Commands, SchemaSpeaksOfTheStoresOfThisBuildAlone) {
  const std::string text = config::json_schema();
  const auto schema = nlohmann::json::parse(text);
  EXPECT_EQ(schema["properties"]["store"]["enum"], nlohmann::json(settings::store_names));
  for (const std::string_view store : config::accepts::stores_of_other_builds) {
    EXPECT_FALSE(text.contains("\"" + std::string(store) + "\"")) << store;
  }
}

TEST(Commands, NoFlagTakesASecret) {
  for (const command& one : commands()) {
    for (const option& o : one.flags) {
      EXPECT_FALSE(o.name.ends_with("token") || o.name.ends_with("password")) << o.name;
    }
  }
}

}  // namespace
}  // namespace tenure::cli
