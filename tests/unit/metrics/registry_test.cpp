#include "metrics/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tenure::metrics {
namespace {

TEST(MetricsText, LabelsAreEscapedAndPrintable) {
  std::string page;
  write({.what = {"a", "Of a test."},
         .samples = {{.labels = {{"election", "a \"b\"\\\nc"}}, .value = 1}}},
        page);
  EXPECT_EQ(page,
            "# HELP a Of a test.\n# TYPE a gauge\n"
            "a{election=\"a \\\"b\\\"\\\\\ufffdc\"} 1\n");
}

TEST(MetricsText, PiecesOfAFamilyHaveOneHead) {
  std::string page;
  family piece{.what = {"a_total", "Of a test."},
               .is = kind::counter,
               .samples = {{.labels = {{"n", "1"}}, .value = 1}}};
  write(piece, page);
  piece.samples.front() = {.labels = {{"n", "2"}}, .value = 2};
  write_more(piece, page);
  EXPECT_EQ(page,
            "# HELP a_total Of a test.\n# TYPE a_total counter\n"
            "a_total{n=\"1\"} 1\na_total{n=\"2\"} 2\n");
}

TEST(MetricsText, EveryVersionThatADoubleHoldsIsExact) {
  std::string page;
  constexpr double largest = 9007199254740991;  // 2^53 - 1
  write({.what = {"a", "Of a test."}, .samples = {{.value = largest}}}, page);
  EXPECT_THAT(page, testing::HasSubstr("\na 9007199254740991\n"));
}

TEST(MetricsText, MetricsThatDifferInLabelsAreOneFamily) {
  registry r;
  const title what{"a_total", "Of a test."};
  const counter one = r.add_counter(what, {{"n", "1"}});
  const counter two = r.add_counter(what, {{"n", "2"}});
  one.add();
  two.add(2);
  std::string page;
  r.write(page);
  EXPECT_THAT(page, testing::StartsWith("# HELP a_total Of a test.\n# TYPE a_total counter\n"));
  EXPECT_THAT(page, testing::HasSubstr("a_total{n=\"1\"} 1\n"));
  EXPECT_THAT(page, testing::HasSubstr("a_total{n=\"2\"} 2\n"));
  EXPECT_EQ(std::ranges::count(page, '\n'), 4);
}

}  // namespace
}  // namespace tenure::metrics
