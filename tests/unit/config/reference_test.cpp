#include "unit/config/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "config/field_words.hpp"
#include "config/fields.hpp"
#include "config/load.hpp"
#include "core/timing.hpp"

namespace tenure::config {
namespace {

using testing::HasSubstr;

TEST(Reference, TheCommittedPageIsTheTable) {
  std::ifstream in(TENURE_REFERENCE);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(page, reference_markdown())
      << TENURE_REFERENCE << " is stale; make it again with `config_tests --update-reference`";
}

TEST(Reference, EverySettingIsInItWithItsDefault) {
  const std::string page = reference_markdown();
  for (const field& f : fields()) {
    EXPECT_THAT(page, HasSubstr("### `" + std::string(f.key) + "`"));
    EXPECT_NE(f.fallback.empty(), f.derivation.empty())
        << f.key << ": a default is a constant or follows from something";
    EXPECT_FALSE(f.doc.empty() || f.doc.ends_with('.')) << f.key;
  }
}

TEST(Reference, OfStoresThoseOfThisBuildAloneAreInIt) {
  const std::string page = reference_markdown();
  for (const std::string_view store : field_of(setting::store).words) {
    EXPECT_THAT(page, HasSubstr("`" + std::string(store) + "`"));
  }
  for (const std::string_view store : accepts::stores_of_other_builds) {
    EXPECT_FALSE(page.contains("`" + std::string(store) + "`")) << store;
  }
}

TEST(Reference, ItsExampleIsAGoodConfiguration) {
  const std::string page = reference_markdown();
  constexpr std::string_view fence = "```yaml\n";
  const std::size_t begin = page.find(fence) + fence.size();
  inputs in;
  in.file = file{"example", page.substr(begin, page.find("```", begin) - begin)};
  in.host_name = "host-1";
  const auto loaded = load(in);
  ASSERT_TRUE(loaded) << render(loaded.error().front());
  EXPECT_EQ(loaded->elections.size(), 2U);
}

TEST(Reference, RangesInWordsAreThoseInForce) {
  const auto range = [](setting which) { return field_of(which).range; };
  EXPECT_EQ(range(setting::ttl), core::text(core::min_ttl) + " to 24h");
  EXPECT_EQ(core::max_ttl, std::chrono::hours(24));
  EXPECT_EQ(range(setting::drain), "0s to 24h");
  EXPECT_EQ(core::max_drain, std::chrono::hours(24));
  EXPECT_EQ(range(setting::renew),
            core::text(core::min_try_timeout) + " to ttl; for `kubernetes` 1s to ttl");
  EXPECT_EQ(range(setting::drift), "0% to " + std::to_string(core::max_drift_ppm / 10'000) + "%");
  EXPECT_THAT(std::string(range(setting::elections)), HasSubstr(std::to_string(max_elections)));
  EXPECT_THAT(std::string(range(setting::endpoint)), HasSubstr(std::to_string(max_endpoints)));
  EXPECT_THAT(std::string(range(setting::allowed_host)),
              HasSubstr(std::to_string(max_allowed_hosts)));
  EXPECT_EQ(max_file_bytes, 1024U * 1024U) << "the page says 1 MiB";
}

}  // namespace
}  // namespace tenure::config
