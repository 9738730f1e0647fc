#include "manifest/marks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/manifest/scene.hpp"

namespace tenure::manifest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string taken_out(const std::string& text, const std::string& workload = {}) {
  const auto done = without_marked("web.yaml", text, workload);
  return done ? *done : config::render(done.error());
}

TEST(Marks, LinesBetweenThemGoAndThoseTheyReplacedComeBack) {
  EXPECT_EQ(
      taken_out(
          "a\n  # tenure.dev/inject: begin Pod/web\nb\n  # tenure.dev/inject: end Pod/web\nc"),
      "a\nc");
  EXPECT_EQ(taken_out("# tenure.dev/inject: begin Pod/web\r\n# tenure.dev/inject: was  a \r\nb\r\n"
                      "# tenure.dev/inject: end Pod/web"),
            " a ");
  EXPECT_EQ(taken_out("# tenure.dev/inject: next line Pod/web: x, y\n[x, y, z]\n"), "[z]\n");
}

TEST(Marks, ThoseOfAnotherWorkloadStay) {
  const std::string both =
      "# tenure.dev/inject: begin Pod/a\n1\n# tenure.dev/inject: end Pod/a\n"
      "# tenure.dev/inject: next line Pod/b: x\n[x, y]\n";
  EXPECT_THAT(marked_workloads(both), ElementsAre("Pod/a", "Pod/b"));
  EXPECT_EQ(taken_out(both, "Pod/b"),
            both.substr(0, both.find("# tenure.dev/inject: next")) + "[y]\n");
  EXPECT_EQ(taken_out(both, "Pod/c"), both);
}

TEST(Marks, ThoseThatDoNotFitTogetherAreRefused) {
  EXPECT_THAT(taken_out("a\n# tenure.dev/inject: begin Pod/a\nb\n"),
              HasSubstr("web.yaml:2:1: a mark of `tenure inject` begins what none ends"));
  EXPECT_THAT(taken_out("# tenure.dev/inject: begin Pod/a\n# tenure.dev/inject: begin Pod/a\n"
                        "# tenure.dev/inject: end Pod/a\n"),
              HasSubstr("web.yaml:1:1: a mark of `tenure inject` begins what none ends"));
  EXPECT_THAT(taken_out("a\n# tenure.dev/inject: end Pod/a\n"),
              HasSubstr("web.yaml:2:1: a mark of `tenure inject` ends what none begins"));
  EXPECT_THAT(taken_out("# tenure.dev/inject: next line Pod/a: x\n[y]\n"),
              HasSubstr("web.yaml:1:1: the line below does not have the words"));
  EXPECT_THAT(taken_out("# tenure.dev/inject: next line Pod/a: x"),
              HasSubstr("somebody has changed what was injected; take it out by hand"));
}

TEST(Marks, TextThatLooksLikeOneIsNotTakenForOne) {
  const std::string text =
      "kind: ConfigMap\ndata:\n  pod.yaml: |\n    # tenure.dev/inject: begin Pod/web\n    a\n"
      "    # tenure.dev/inject: end Pod/web\n";
  const auto done = uninject({"web.yaml", text}, "");
  ASSERT_FALSE(done);
  EXPECT_THAT(lines(done.error()),
              HasSubstr("web.yaml:3:13: this text has a line in it that looks like a mark"));
}

}  // namespace
}  // namespace tenure::manifest
