#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/insertion.hpp"
#include "manifest/json_form.hpp"
#include "unit/manifest/scene.hpp"

/// JSON comes in as YAML does, and goes out as JSON.
namespace tenure::manifest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::expect_golden;

constexpr const char* json = R"({
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {}, "annotations": {"a": "yes", "b": "1", "c": "x\n\"y\" \\ #", "d": ""}},
    "spec": {"replicas": 2, "paused": false, "template": {"metadata": {"labels": {"app": "web"}},
        "spec": {"nodeName": null, "containers": [
            {"name": "main", "image": "a:1", "command": ["sleep", "1000"], "env": [{"name": "N", "value": "0x10"}]}]}}}
})";

config::yaml_node_ptr tree(const std::string& text) {
  const config::file of{"web.json", text};
  const auto all = documents_of(of);
  EXPECT_TRUE(all && all->size() == 1) << text;
  return all ? all->front().root : nullptr;
}

TEST(Json, IsWrittenInLinesAndBackWithoutLoss) {
  const auto given = tree(json);
  EXPECT_TRUE(same_tree(tree(in_lines(*given)), given)) << in_lines(*given);
  EXPECT_TRUE(same_tree(tree(as_json(*given)), given)) << as_json(*given);
  EXPECT_TRUE(is_json(as_json(*given)));
  EXPECT_FALSE(is_json(in_lines(*given)));
}

TEST(Json, GetsWhatItsLinesWouldGet) {
  const std::string out = injected_text(json);
  EXPECT_TRUE(is_json(out)) << out;
  EXPECT_TRUE(same_tree(tree(out), tree(injected_text(in_lines(*tree(json))))));
  EXPECT_THAT(out, AllOf(HasSubstr("\"/tenure-bin/tenure\",\n"), HasSubstr("\"replicas\": 2"),
                         HasSubstr("\"c\": \"x\\n\\\"y\\\" \\\\ #\"")));
}

TEST(Json, WithRightsIsAList) {
  injection how = usual();
  how.what.adds_rights = true;
  const auto list = tree(injected_text(json, how));
  EXPECT_EQ(text_of(*list, "kind"), "List");
  EXPECT_EQ(member_of(*list, "items")->items.size(), 3U);
}

TEST(Json, ReasonsHaveNoPositionsOfLinesThatNobodyHasWritten) {
  std::string bad = json;
  bad.replace(bad.find("\"nodeName\": null"), 16, "\"hostPID\": true");
  expect_golden(refusal(bad));
}

TEST(Json, SaysNotWhatWasAdded) {
  const auto done = uninject({"web.json", injected_text(json)}, "");
  ASSERT_FALSE(done);
  EXPECT_THAT(lines(done.error()), HasSubstr("this is JSON, which has no comments"));
  expect_golden(refusal(injected_text(json)));
}

}  // namespace
}  // namespace tenure::manifest
