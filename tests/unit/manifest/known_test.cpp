#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "unit/manifest/scene.hpp"

/// Manifests of the shape that well-known projects publish go in with at most one flag. Each file
/// of `known` says in its first line which one; tests/k8s/manifests_test.py shows the results to an
/// API server.
namespace tenure::manifest {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tests::expect_golden;

struct known {
  std::string name;
  std::string text;
};

std::vector<known> all_known() {
  std::vector<known> out;
  for (const auto& one : std::filesystem::directory_iterator(TENURE_KNOWN_MANIFESTS)) {
    std::ifstream from(one.path(), std::ios::binary);
    out.push_back({one.path().stem(), {std::istreambuf_iterator<char>(from), {}}});
  }
  std::ranges::sort(out, {}, &known::name);
  return out;
}

/// "/run.sh" of "# flag: --command=/run.sh" in the first line; empty: it needs none.
std::string flag_of(const known& one, const std::string& name) {
  const std::string line = one.text.substr(0, one.text.find('\n'));
  const std::string begin = "# flag: --" + name + "=";
  return line.starts_with(begin) ? line.substr(begin.size()) : "";
}

injection with_flag(const known& one) {
  injection out = usual();
  out.choices.user.reset();
  out.choices.container = flag_of(one, "container");
  std::istringstream words(flag_of(one, "command"));
  for (std::string word; words >> word;) out.choices.command.push_back(word);
  return out;
}

class Known : public testing::TestWithParam<known> {};

TEST_P(Known, GoesInWithOneFlagAndComesOutAgain) {
  const injection how = with_flag(GetParam());
  for (const bool is_dos : {false, true}) {
    std::string text = GetParam().text;
    for (std::size_t at = text.find('\n'); is_dos && at != std::string::npos;
         at = text.find('\n', at + 2)) {
      text.insert(at, "\r");
    }
    const std::string out = injected_text(text, how);
    EXPECT_EQ(plain_text(out), text);
    EXPECT_EQ(injected_text(out, how), out);
    const bool has_user = text.contains("runAsUser:");
    EXPECT_THAT(
        out, HasSubstr(has_user ? "--guard-dir=/run/tenure]" : "--guard-dir=/run/tenure/guard]"));
  }
}

/// Without it the reason says how to find out what the image starts.
TEST_P(Known, NeedsTheFlag) {
  injection how = usual();
  how.choices.user.reset();
  if (!flag_of(GetParam(), "command").empty()) {
    expect_golden(refusal(GetParam().text, how));
  } else if (!flag_of(GetParam(), "container").empty()) {
    expect_golden(refusal(GetParam().text, how));
  } else {
    EXPECT_THAT(injected_text(GetParam().text, how), Not(IsEmpty()));
  }
}

INSTANTIATE_TEST_SUITE_P(Manifests, Known, testing::ValuesIn(all_known()),
                         [](const auto& one) { return one.param.name; });

TEST(KnownManifests, AreThere) {
  EXPECT_GE(all_known().size(), 17U);
}

}  // namespace
}  // namespace tenure::manifest
