#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "scene.hpp"
#include "stores/store.hpp"

namespace tenure::tests {

/// A store as the suite needs it: empty, with one server, for one test.
class store_under_test {
 public:
  virtual ~store_under_test() = default;

  [[nodiscard]] virtual std::string kind() const = 0;
  [[nodiscard]] virtual std::string endpoint() const = 0;

  /// How to sign in to it, and where in it the leases are, for an agent that has all else.
  virtual void give_access(stores::setup& /*to*/) const {}

  /// The shortest TTL that the store grants as asked for; tests of expiry wait for it.
  [[nodiscard]] virtual core::duration shortest_ttl() const { return std::chrono::seconds(1); }

  /// Deletes what says that somebody holds `election`, as an operator with the store's own tool
  /// would.
  virtual void delete_lock(const std::string& election) = 0;
};

struct store_factory {
  std::string name;
  std::function<std::unique_ptr<store_under_test>()> make;
  std::string missing;  ///< not empty: it cannot be made here, and what to do about it
};

/// Names the tests.
inline void PrintTo(const store_factory& one, std::ostream* out) {
  *out << one.name;
}

/// Every store that can be tested here.
std::vector<store_factory> all_stores();

/// The rules that every store keeps. Members are made against the same store.
class StoreContract : public testing::TestWithParam<store_factory> {
 protected:
  stores::setup settings(const std::string& identity, core::duration ttl = std::chrono::seconds(10),
                         std::uint32_t slots = 1, std::uint32_t elections = 1) {
    auto made = settings_for(store_->kind(), store_->endpoint(), identity, ttl, slots, elections);
    store_->give_access(made);
    return made;
  }

  /// An agent that has opened the store.
  std::unique_ptr<member> join(const stores::setup& with) {
    auto made = std::make_unique<member>(loop_, with);
    const auto opened = made->open();
    EXPECT_TRUE(opened) << opened.error().text;
    return made;
  }

  void SetUp() override {
    if (!GetParam().missing.empty()) GTEST_SKIP() << GetParam().missing;
    store_ = GetParam().make();
  }

  loop loop_;
  std::unique_ptr<store_under_test> store_;
};

/// A store in which Tenure makes the versions, so that a caller can raise them; elsewhere they are
/// the store's own numbers.
class StoreOfOurVersions : public StoreContract {};

/// What starts a contender (contender.cpp).
std::vector<std::string> contender_of(const store_under_test& store, const std::string& identity,
                                      const std::string& ttl_ms, const std::string& manner = "-");

/// The place of election 0 with the term of `version`, for a renewal.
inline std::vector<core::renewal_item> only(core::version version) {
  return {{.which = core::election_index{0}, .version = version}};
}

}  // namespace tenure::tests
